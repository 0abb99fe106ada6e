import { type Fields, stripeEventOf, stripeSubscription, T0 } from '../../billing/payloads'
import type { AccountSettings } from '../../harness'
import { advance, cron, rows } from '../pipeline'
import { thinWorld } from '../thin/world'

export type DoubtWorld = Awaited<ReturnType<typeof doubtWorld>>

/** Two events of one instant that disagree, and of which none says what was before: nothing decides between them. */
export const tied = (object: Fields, type = 'customer.subscription.updated') =>
  ['past_due', 'active'].map((status) => stripeEventOf(type, { ...object, status }, { at: T0 }))

/** A subscription, and how its events show it: without all of its items. */
export const cutSubscription = (): { whole: Fields; cut: Fields } => {
  const subscription: Fields = stripeSubscription()
  const items = subscription.items as { data: Fields[] }
  const all = Array.from({ length: 15 }, (_, i) => ({ ...items.data[0], id: `si_${i}` }))
  return {
    whole: { ...subscription, items: { ...items, data: all } },
    cut: { ...subscription, items: { ...items, data: all.slice(0, 10), has_more: true } },
  }
}

/** A project with the key of an account that holds these objects, and queues in memory. The clock must be stopped. */
export async function doubtWorld(
  objects: readonly object[] = [],
  settings: Omit<AccountSettings, 'objects'> & { key?: boolean } = {},
) {
  const world = await thinWorld(objects, settings)
  return {
    ...world,
    doubts: () =>
      rows<{ object_id: string; tries: number; due_in: number }>(
        `SELECT object_id, tries, due_at - ${Date.now()} AS due_in FROM vendor_doubts WHERE project_id = ? ORDER BY 1`,
        world.project,
      ),
    /** Delivers events without the time passing in which the vendor would be asked. */
    tell: async (...events: object[]) => {
      for (const event of events) await world.send(event)
      await world.queue.pump(world.bindings)
    },
    /** Lets so much time (ms) pass, then lets the cron and the consumers do what is due. */
    pass: async (ms: number) => {
      advance(ms)
      await cron(world.bindings)
      await world.pump()
    },
  }
}
