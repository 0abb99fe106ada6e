import type { Env } from '../../src/env'
import {
  call,
  DIRECTORY,
  databaseOf,
  drain,
  lossyQueue,
  mint,
  queueOf,
  STORES,
  signedIn,
  stripeConnection,
  type Tamper,
  tampered,
} from '../harness'

/** Has new projects go to one store, or to several. */
export async function openOnly(...open: number[]): Promise<void> {
  await DIRECTORY.batch(
    STORES.map((store) =>
      DIRECTORY.prepare('UPDATE stores SET closed = ?, error = NULL WHERE number = ?').bind(
        open.includes(store) ? 0 : 1,
        store,
      ),
    ),
  )
}

/** A project in a store, with its owner, a key, and a Stripe connection. */
export async function worldIn(store: number) {
  await openOnly(store)
  const owner = await signedIn()
  const made = await call('/platform/v1/projects', {
    method: 'POST',
    token: owner.token,
    json: { name: `In ${store}` },
  })
  const project = made.body.id
  const { key, secret } = await mint(owner.token, project)
  const connection = await stripeConnection(secret, project)
  return { store, owner, project, key, secret, connection }
}
export type StoreWorld = Awaited<ReturnType<typeof worldIn>>

/** The binding of a store's database. */
export const bindingOf = (store: number): 'DB' | `STORE_${number}` => (store === 0 ? 'DB' : `STORE_${store}`)

/** Every database, with what happens to the calls of each. `DB` is the directory as well as store 0. */
export function databases(tamperOf: (store: number) => Tamper): Partial<Env> {
  const all = STORES.map((store) => [bindingOf(store), tampered(databaseOf(store), tamperOf(store))])
  return Object.fromEntries(all) as Partial<Env>
}

/** Every database, and how many calls each has had. */
export function countedDatabases() {
  const trips: Record<number, number> = {}
  const bindings = databases((store) => ({ run }) => {
    trips[store] = (trips[store] ?? 0) + 1
    return run()
  })
  return { bindings, trips }
}

/** One database that fails, or never answers; the others are real. */
export function without(store: number, how: 'throws' | 'hangs'): Partial<Env> {
  const tamper: Tamper = () => {
    if (how === 'throws') throw new Error('D1_ERROR: Network connection lost.')
    return new Promise(() => {})
  }
  return databases((number) => (number === store ? tamper : ({ run }) => run()))
}

/** A queue in memory for each store. */
export function queues() {
  const sent = new Map(STORES.map((store) => [store, lossyQueue()]))
  const bindings = Object.fromEntries(
    [...sent].map(([store, queue]) => [store === 0 ? 'EVENTS' : `EVENTS_${store}`, queue.EVENTS]),
  ) as unknown as Partial<Env> // each named, because `EVENTS` alone would stand in for all
  return {
    bindings,
    sentTo: (store: number) => sent.get(store)?.sent ?? [],
    /** Hands what was sent to a store's queue to the consumer, once. */
    deliver: async (store: number, more: Partial<Env> = {}) => {
      const bodies = sent.get(store)?.sent.splice(0) ?? []
      return drain(bodies, { ...bindings, ...more }, queueOf(store))
    },
  }
}
