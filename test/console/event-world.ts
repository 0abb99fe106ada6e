import { deliver, freshProject, settled, stripeConnection } from '../harness'
import { insertEvents, insertPayload, type Seed, seedEvent } from '../inbox/seeding'
import { visit } from './visit'

/** A project with a live Stripe connection, and ways to put events there and to see their pages. */
export async function eventWorld() {
  const { project, owner } = await freshProject()
  const connection = (await stripeConnection(owner.token, project)).id
  const events = `/console/p/${project}/platform/billing/webhooks`
  return {
    project,
    owner,
    connection,
    events,
    see: async (id: string) => (await visit(`${events}/${id}`, owner.token)).text,
    /** Puts an event there as processing would have left it, with its payload. */
    put: async (fields: Partial<Seed>, body: string | ArrayBuffer = '{}') => {
      const event = seedEvent({ connection, received_at: Date.now(), ...fields })
      await insertEvents(project, [event])
      await insertPayload(project, event, body)
      return event.id
    },
    /** Sends an event and waits until it is processed. */
    send: async (event: unknown) => {
      const { body } = await deliver(connection, event)
      await settled(project, owner.token, body.event_ids[0])
      return body.event_ids[0] as string
    },
  }
}
