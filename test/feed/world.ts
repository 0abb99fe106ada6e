import type * as z from 'zod'
import type { ChangeSchema } from '../../src/feed/fields'
import { call, stripeEvent } from '../harness'
import { newWorld as newInbox } from '../inbox/pipeline'

export type Change = z.infer<typeof ChangeSchema>
export type World = Awaited<ReturnType<typeof newWorld>>

let made = 0

/**
 * A project whose events are processed when asked, and a reader of its feed.
 *
 * @param by whose calls they are: a key outlives a session whose clock is moved
 */
export async function newWorld(by: 'owner' | 'key' = 'owner') {
  const inbox = await newInbox()
  const { project } = inbox
  const token = by === 'key' ? inbox.token : inbox.owner.token
  const as = { project, token }
  return {
    ...inbox,
    changes: (query = '', by: object = as) => call(`/platform/v1/changes${query}`, { ...as, ...by }),
    get: (path: string) => call(`/platform/v1/${path}`, as),
    put: (path: string, json: unknown) => call(`/platform/v1/${path}`, { ...as, method: 'PUT', json }),
    post: (path: string, json?: unknown) => call(`/platform/v1/${path}`, { ...as, method: 'POST', json }),
    patch: (path: string, json: unknown) => call(`/platform/v1/${path}`, { ...as, method: 'PATCH', json }),
    remove: (path: string) => call(`/platform/v1/${path}`, { ...as, method: 'DELETE' }),
    /** An event of Stripe's about an object, at a second of its own. */
    happens: async (type: string, object: Record<string, unknown>) => {
      made += 1
      const event = { ...stripeEvent(type, object), created: 1_790_000_000 + made }
      const { body } = await inbox.send(event)
      return body.event_ids[0] as string
    },
  }
}

/** Follows the feed to its end. @param limit of each page */
export async function follow(world: Pick<World, 'changes'>, { after = '', limit = 500, types = '' } = {}) {
  const found: Change[] = []
  let position = after
  for (;;) {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(position && { after: position }),
      ...(types && { types }),
    })
    const { status, body, text } = await world.changes(`?${query}`)
    if (status !== 200) throw new Error(text)
    found.push(...(body.data as Change[]))
    position = body.next
    if (!body.has_more) return { found, position }
  }
}

/** A change in one line. */
export function line({ type, object, fields, customer, consumer_id, former, cause }: Change): string {
  const of = [customer, consumer_id?.slice(0, 4), former && `not ${former.customer ?? former.consumer_id?.slice(0, 4)}`]
  return [type, object.type, fields?.join(), ...of, cause && `by ${cause.type}`].filter(Boolean).join(' ')
}
