import type * as z from 'zod'
import type { ChangeSchema } from '../../src/feed/fields'
import { clocked } from '../entitlements/world'
import { call, STORE, stripeEvent, tampered } from '../harness'
import { everyD1 } from '../harness/stores'
import { cron, memoryQueue, newWorld, rows, WATCH_QUEUE } from '../inbox/pipeline'

export type Change = z.infer<typeof ChangeSchema>
export type WatchWorld = Awaited<ReturnType<typeof watchWorld>>
type Tamper = Parameters<typeof tampered>[1]

/** The features of these tests: each is of another kind. */
export const FEATURES = {
  sso: { type: 'boolean' },
  audit: { type: 'boolean' },
  seats: { type: 'quantity', combine: 'max' },
  credits: { type: 'quantity', combine: 'sum' },
  limits: { type: 'config' },
} as const

let seconds = 0

/** D1 whose own clock is the test's. @param tamper comes between each of its calls */
export function watchedD1(tamper: Tamper = (trip) => trip.run()): D1Database {
  return everyD1((real) => tampered(clocked(real), tamper))
}

/** A project with a catalog, whose calls, events, cron and watcher have the clock of the test, which must be stopped. */
export async function watchWorld() {
  const inbox = await newWorld()
  const { project, token, queue } = inbox
  const watchers = memoryQueue(WATCH_QUEUE, 10)
  const bindings = { DB: watchedD1(), EVENTS: queue.EVENTS, WATCHERS: watchers.EVENTS }
  const ask = (method: string, path: string, json?: unknown) =>
    call(`/platform/v1/${path}`, { method, project, token, bindings, ...(json !== undefined && { json }) })
  /** @throws if the answer is an error */
  const must = async (method: string, path: string, json?: unknown) => {
    const { status, body, text } = await ask(method, path, json)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return body
  }
  let position = ''
  let timedUpTo = 0
  /** Gives changes the time of the test that have come since the last time: triggers read the clock of the machine. */
  const timed = async () => {
    const sql = 'UPDATE changes SET at = ?3 WHERE project_id = ?1 AND seq > ?2 RETURNING seq'
    const { results } = await STORE.prepare(sql).bind(project, timedUpTo, Date.now()).all<{ seq: number }>()
    timedUpTo = Math.max(timedUpTo, ...results.map(({ seq }) => seq))
  }
  const plans: string[] = []
  return {
    ...inbox,
    bindings,
    watchers,
    ask,
    must,
    plans,
    timed,
    /** Makes the features, and plans p0, p1 … with these features, each of which has the price of its number. */
    async sell(...all: object[]) {
      await Promise.all(
        Object.entries(FEATURES).map(([key, of]) => must('PUT', `billing/features/${key}`, { name: key, ...of })),
      )
      for (const [i, features] of all.entries()) {
        const prices = [{ vendor: 'stripe', ref: `price_${i}` }]
        const { id } = await must('POST', 'billing/plans', { key: `p${i}`, name: 'p', rank: i, features, prices })
        plans.push(id)
      }
    },
    set: (settings: object) => must('PATCH', `projects/${project}`, { settings }),
    /** An event of Stripe's about an object, later than those before it, which is processed. */
    async happens(type: string, object: object) {
      seconds += 1
      const created = Math.floor(Date.now() / 1000) + seconds
      await inbox.send({ ...stripeEvent(type, { ...object }), created, livemode: true }, { bindings })
      await queue.pump(bindings)
    },
    cron: () => cron(bindings),
    /** Lets the watcher do what it has messages for. */
    pump: (more: object = {}) => watchers.pump({ ...bindings, ...more }),
    /** Lets the cron and the watcher do all that there is to do. @returns what {@link heard} does */
    async told(): Promise<Change[]> {
      await timed()
      await cron(bindings)
      await watchers.pump(bindings)
      return this.heard()
    },
    /** Leaves out what the feed has said meanwhile. */
    skip: async () => {
      position = (await must('GET', 'changes?after=latest')).next
    },
    /** What the feed says of entitlements since the last time. */
    async heard(): Promise<Change[]> {
      const found: Change[] = []
      for (let more = true; more; ) {
        const after = position === '' ? '' : `&after=${position}`
        const body = await must('GET', `changes?types=entitlements.*&limit=500${after}`)
        found.push(...(body.data as unknown as Change[]))
        position = body.next
        more = body.has_more
      }
      return found
    },
    /** What a consumer is allowed, by the keys of the features. */
    async allowed(consumer: string): Promise<Record<string, unknown>> {
      const { features } = await must('GET', `consumers/${consumer}/entitlements`)
      return Object.fromEntries(
        Object.entries<{ allowed: boolean; value: unknown }>(features).flatMap(([key, { allowed, value }]) =>
          allowed ? [[key, value]] : [],
        ),
      )
    },
    states: () =>
      rows<{ consumer_id: string; features: string; due_at: number | null; skipped_at: number | null }>(
        'SELECT * FROM entitlement_states WHERE project_id = ? ORDER BY consumer_id',
        project,
      ),
  }
}

/** A change of entitlements in one line: what became of which feature, and because of what. */
export function line({ type, features, causes }: Change): string {
  if (type !== 'entitlements.changed') return type
  const values = features?.map(
    ({ key, before, after }) => `${key} ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
  )
  return `${values?.join(', ')} by ${causes?.map(({ type: of }) => of).join(', ')}`
}

/** A subscription of Stripe's with items by their prices. @param end of its period (ms) */
export function subscription(
  id: string,
  customer: string,
  prices: Record<string, number>,
  end: number,
  more: object = {},
) {
  const items = Object.entries(prices).map(([price, quantity], i) => ({
    id: `si_${id}_${i}`,
    object: 'subscription_item',
    price: { id: price, object: 'price', product: `prod_${price}` },
    quantity,
    current_period_start: Math.floor(end / 1000) - 30 * 86_400,
    current_period_end: Math.floor(end / 1000),
  }))
  return {
    id,
    object: 'subscription',
    customer,
    livemode: true,
    status: 'active',
    items: { object: 'list', data: items },
    ...more,
  }
}
