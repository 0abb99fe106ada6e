import { anId, type Fields, isoOf, T0 } from '../../billing/payloads'
import { billingWorld } from '../../billing/world'
import { type AccountSettings, newStripeAccount, newStripeKey, seenBy } from '../../harness'
import { advance, cron, FETCH_QUEUE, memoryQueue, rows, type World } from '../pipeline'
import { setKey } from '../refresh/world'

export type ThinWorld = Awaited<ReturnType<typeof thinWorld>>
type Held = Fields & { id: string }
/** No limit on refreshes, nor on keys: these tests are about something else. */
type Options = Omit<AccountSettings, 'objects'> & { key?: boolean }

/**
 * A project whose connection of Stripe has the API key of an account that holds these objects, with a queue of events and one of fetches.
 */
export async function thinWorld(objects: readonly object[] = [], { key = true, ...settings }: Options = {}) {
  const world = await billingWorld()
  const { fetches, bindings, pump, settle } = bothQueues(world)
  const apiKey = newStripeKey('live')
  await newStripeAccount({ ...settings, objects: objects as Held[] }, apiKey)
  if (key) await setKey(world, world.connection.id, apiKey)
  return {
    ...world,
    apiKey,
    fetches,
    bindings,
    pump,
    /** Delivers events, all of which are then processed. @returns their ids */
    deliver: async (...events: object[]): Promise<string[]> => {
      const ids: string[] = []
      for (const event of events) ids.push((await world.send(event)).body.event_ids[0])
      await pump()
      return ids
    },
    replay: (id: string) => world.replay(id, { bindings }),
    /** The paths that the account was asked for, without those that tried the key. */
    asked: async () =>
      (await seenBy(apiKey))
        .map(({ url }) => new URL(url))
        .flatMap(({ search, pathname }) => (search ? [] : [pathname])),
    /** The headers of those requests. */
    askedWith: async () =>
      (await seenBy(apiKey)).filter(({ url }) => new URL(url).search === '').map(({ headers }) => headers),
    fetched: () =>
      rows<{ id: string }>("SELECT id FROM events WHERE project_id = ? AND id >= 'ftc' ORDER BY id", world.project),
    /** Lets time pass, with cron and consumers at work, until nothing is open. The clock must be stopped. */
    settle,
  }
}

/** The queue of a world's events, and one of fetches, with their consumers. */
export function bothQueues(world: Pick<World, 'project' | 'queue'>) {
  const fetches = memoryQueue(FETCH_QUEUE)
  const bindings = { EVENTS: world.queue.EVENTS, FETCHES: fetches.EVENTS }
  /** Lets both consumers do what is due. */
  const pump = async (more: object = {}) => {
    for (let i = 0; i < 10; i++) {
      const did = (await world.queue.pump({ ...bindings, ...more })) + (await fetches.pump({ ...bindings, ...more }))
      if (did === 0) return
    }
  }
  return { fetches, bindings, pump, settle: () => settleBoth(world, fetches, pump, bindings) }
}

async function settleBoth(
  { project, queue }: Pick<World, 'project' | 'queue'>,
  fetches: ReturnType<typeof memoryQueue>,
  pump: () => Promise<void>,
  bindings: object,
): Promise<void> {
  for (let round = 0; round < 60; round++) {
    await pump()
    const open = await rows<{ due_at: number; lease_until: number | null }>(
      'SELECT due_at, lease_until FROM events WHERE project_id = ? AND due_at IS NOT NULL',
      project,
    )
    const next = [
      ...open.map(({ due_at, lease_until }) => Math.max(due_at, lease_until ?? 0)),
      ...[...queue.waiting(), ...fetches.waiting()].map(({ dueAt }) => dueAt),
    ]
    if (next.length === 0) return
    advance(Math.max(1000, Math.min(...next) - Date.now()))
    await cron(bindings)
  }
  throw new Error(`still open: ${JSON.stringify(await rows('SELECT * FROM events WHERE project_id = ?', project))}`)
}

const TYPES: Record<string, [name: string, path: string]> = {
  customer: ['v1.customer', 'customers'],
  subscription: ['v1.customer.subscription', 'subscriptions'],
  invoice: ['v1.invoice', 'invoices'],
  payment_method: ['v1.payment_method', 'payment_methods'],
  'checkout.session': ['v1.checkout.session', 'checkout/sessions'],
}

/** A thin event of an object, in the form of Stripe's own fixture. */
export function thinEvent(
  { object, id }: Fields,
  what = 'updated',
  { at = T0, ...fields }: Fields & { at?: number } = {},
) {
  const [name = `v1.${object}`, path = `${object}s`] = TYPES[String(object)] ?? []
  return {
    id: anId('evt_thin'),
    object: 'v2.core.event',
    created: isoOf(at).replace('Z', '.472Z'),
    livemode: true,
    context: null,
    reason: { type: 'request', request: { id: 'req_1', idempotency_key: 'key_1' } },
    type: `${name}.${what}`,
    related_object: { id, type: object, url: `/v1/${path}/${id}` },
    ...fields,
  }
}
