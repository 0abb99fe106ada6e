import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_GAPS, MISSED_DEGRADED } from '../../src/inbox/backfill/limits'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/lib/time'
import {
  anId,
  type Fields,
  paddleEventOf,
  paddleSubscription,
  stripeEventOf,
  stripeSubscription,
} from '../billing/payloads'
import { advance, setClock, stopClock } from '../clock'
import { call, changeAccount, newPaddleAccount, newPaddleKey, STORE, seenBy, stripeConnection } from '../harness'
import { doubtWorld } from './doubts/world'
import { keepHouse, only, rows, stored } from './pipeline'
import { setKey } from './refresh/world'

const NOON = Date.parse('2026-11-27T12:00:00Z')
beforeEach(() => {
  stopClock(NOON)
})

const seconds = (ms: number) => Math.floor(ms / SECOND)
/** An event of Stripe that happened then. */
function happened(at: number, object: Fields = stripeSubscription(), type = 'customer.subscription.updated') {
  return { ...stripeEventOf(type, { ...object, livemode: true }, { at: seconds(at) }), livemode: true }
}
type Event = ReturnType<typeof happened>

type Row = {
  checked_until: number | null
  missed: string
  gaps: string
  error: string | null
  due_at: number | null
  cursor: string | null
}

/** A project with a key for an account, in which these events have happened. */
async function world(events: readonly Event[] = [], settings: object = {}) {
  const made = await doubtWorld([], settings)
  const holds = (all: readonly Event[]) =>
    changeAccount(made.apiKey, { objects: Object.fromEntries(all.map((one) => [one.id, one])) as never })
  await holds(events)
  return {
    ...made,
    holds,
    /** Lets the cron look for what is due, and the consumers do it. */
    look: async () => {
      await keepHouse(made.bindings)
      for (let i = 0; i < 40; i++) {
        advance(SECOND)
        await made.pump()
        if (made.fetches.waiting().length === 0) break
      }
    },
    row: () => only(rows<Row>('SELECT * FROM backfills WHERE project_id = ?', made.project)),
    ids: async () => (await stored(made.project)).map(({ vendor_event_id }) => vendor_event_id),
    health: async () => (await call('/platform/v1/billing/webhooks/health', made)).body,
    /** What health says of the connection. */
    shown: async () => {
      const { body } = await call('/platform/v1/billing/webhooks/health', made)
      const all = body.connections as { id: string; backfill: unknown }[]
      return all.find(({ id }) => id === made.connection.id)?.backfill
    },
    /** The lists of events that the vendor was asked for. */
    asked: async () =>
      (await seenBy(made.apiKey))
        .map(({ url }) => new URL(url))
        .filter(({ pathname }) => pathname === '/v1/events')
        .filter(({ searchParams }) => searchParams.has('types[0]')),
  }
}

describe('what the vendor could not deliver', () => {
  it('is recorded, processed and counted, once; what was delivered is not', async () => {
    const of = await world()
    const subscription = stripeSubscription()
    const [missed, delivered, fresh] = [
      happened(NOON + MINUTE, subscription),
      happened(NOON + 2 * MINUTE),
      happened(NOON + 2 * HOUR),
    ]
    await of.holds([missed, delivered, fresh])
    setClock(NOON + 2 * HOUR)
    await of.send(delivered)
    await of.look()
    expect((await of.ids()).sort()).toEqual([missed.id, delivered.id].sort()) // the third may still be on its way
    const { body } = await call(`/platform/v1/billing/subscriptions/${subscription.id}`, of)
    expect(body).toMatchObject({ id: subscription.id, status: 'active' })
    expect(await of.shown()).toMatchObject({ missed: { '2026-11-27': 1 }, gaps: [], error: null })
    const [row] = (await stored(of.project)).filter(({ vendor_event_id }) => vendor_event_id === missed.id)
    const event = await of.event(row?.id ?? '')
    expect(event).toMatchObject({ status: 'processed', deliveries: 0, differing_deliveries: 0 })
    // The vendor's late delivery is a duplicate, and no other content.
    expect((await of.send(missed)).body).toMatchObject({ duplicate: true })
    expect(await of.event(row?.id ?? '')).toMatchObject({ deliveries: 1, differing_deliveries: 0 })
    // The third one did not come within an hour either.
    advance(HOUR)
    await of.look()
    expect(await of.ids()).toContain(fresh.id)
    expect(JSON.parse((await of.row()).missed)).toEqual({ '2026-11-27': 2 })
  })

  it('is looked for hour by hour, with some overlap: a list may lag', async () => {
    const of = await world()
    setClock(NOON + 3 * HOUR)
    await of.look()
    const late = happened(NOON + 2 * HOUR - MINUTE)
    await of.holds([late])
    setClock(NOON + 4 * HOUR)
    await of.look()
    expect(await of.ids()).toEqual([late.id])
    const [first, second] = (await of.asked()).map(({ searchParams }) =>
      [searchParams.get('created[gte]'), searchParams.get('created[lt]')].map(Number),
    )
    expect(first?.[0]).toBe(seconds(NOON))
    expect((first?.[1] ?? 0) - (second?.[0] ?? 0)).toBe(seconds(HOUR))
  })

  it('comes in pages, of which many happened in the same second', async () => {
    const many = Array.from({ length: 60 }, () => happened(NOON + MINUTE))
    const of = await world(many, { page_most: 4 })
    setClock(NOON + 2 * HOUR)
    await of.look()
    expect(new Set(await of.ids())).toEqual(new Set(many.map(({ id }) => id)))
    expect((await of.row()).cursor).toBe(null)
    expect(JSON.parse((await of.row()).missed)).toEqual({ '2026-11-27': 60 })
    const { status, reasons } = await of.health()
    expect(status).toBe('degraded')
    expect(reasons).toContain(
      'since yesterday, 60 events were not delivered to the connection Stripe, so the service read them from the vendor’s list: check its webhook endpoint in the vendor’s dashboard',
    )
  })

  it.each([MISSED_DEGRADED - 1, MISSED_DEGRADED])('degrades the health from ten events on: %i', async (n) => {
    const of = await world(Array.from({ length: n }, () => happened(NOON + MINUTE)))
    setClock(NOON + 2 * HOUR)
    await of.look()
    const { reasons } = await of.health()
    expect(reasons.some((one: string) => one.includes('were not delivered'))).toBe(n >= MISSED_DEGRADED)
  })

  it.each([
    ['is busy', { status: 429, retry_after: '1200' }, 'vendor_unavailable', 20 * MINUTE],
    ['fails', { status: 500 }, 'vendor_unavailable', 10 * MINUTE],
    ['breaks off in the middle of the pages', { status: 500, after: 3 }, 'vendor_unavailable', 10 * MINUTE],
  ])('is found later if the vendor %s', async (_, fail, error, wait) => {
    const many = Array.from({ length: 20 }, () => happened(NOON + MINUTE))
    const of = await world(many, { page_most: 4 })
    setClock(NOON + 2 * HOUR)
    await changeAccount(of.apiKey, { fail: { path: '/v1/events', ...fail } })
    await of.look()
    const row = await of.row()
    expect(row).toMatchObject({ error, checked_until: null })
    expect(Math.abs((row.due_at ?? 0) - Date.now() - wait)).toBeLessThan(MINUTE)
    const before = (await of.ids()).length
    expect(before).toBe('after' in fail ? 12 : 0)
    await changeAccount(of.apiKey, { fail: null as never })
    advance(HOUR)
    await of.look()
    expect((await of.ids()).length).toBe(20)
    expect(JSON.parse((await of.row()).missed)).toEqual({ '2026-11-27': 20 })
    expect(await of.row()).toMatchObject({ error: null, cursor: null })
  })

  it('is not looked for with a key that is refused, or may not read events, and is once it may', async () => {
    const of = await world([happened(NOON + MINUTE)])
    setClock(NOON + 2 * HOUR)
    await changeAccount(of.apiKey, { refused: ['events'] })
    await of.look()
    expect(await of.row()).toMatchObject({ error: 'permission_missing' })
    await changeAccount(of.apiKey, { refused: [], fail: { status: 401, path: '/v1/events' } })
    advance(DAY)
    await of.look()
    expect(await of.row()).toMatchObject({ error: 'api_key_refused', due_at: null })
    await changeAccount(of.apiKey, { fail: null as never })
    await STORE.prepare("UPDATE vendor_keys SET state = 'ok' WHERE project_id = ?").bind(of.project).run()
    advance(HOUR)
    await of.look()
    expect(await of.row()).toMatchObject({ error: null })
    expect((await of.ids()).length).toBe(1)
  })

  it('is not looked for without a key', async () => {
    const of = await world([happened(NOON + MINUTE)])
    setClock(NOON + 2 * HOUR)
    await keepHouse(of.bindings)
    await of.api(`/connections/${of.connection.id}/api-key`, { method: 'DELETE' })
    await of.pump()
    expect(await rows('SELECT * FROM backfills WHERE project_id = ?', of.project)).toEqual([])
    expect(await of.ids()).toEqual([])
    expect(await of.shown()).toBe(null)
  })

  it('is not looked for twice where one connection replaces another: what either got is known', async () => {
    const of = await world()
    const second = await stripeConnection(of.token, of.project)
    await setKey(of, second.id, of.apiKey)
    const delivered = happened(NOON + MINUTE)
    await of.holds([delivered])
    setClock(NOON + 2 * HOUR)
    await of.send(delivered)
    expect((await of.api(`/connections/${of.connection.id}`, { method: 'DELETE' })).status).toBe(204)
    await of.look()
    expect(await of.asked()).not.toEqual([])
    expect(await of.ids()).toEqual([delivered.id])
  })

  it('does not come from types that become no state, nor from another project’s connection', async () => {
    const of = await world()
    const noise = happened(NOON + MINUTE, { id: anId('ch'), object: 'charge' }, 'charge.succeeded')
    const missed = happened(NOON + MINUTE)
    await of.holds([noise, missed])
    const other = await world([])
    await other.send(missed)
    setClock(NOON + 2 * HOUR)
    await of.look()
    expect(await of.ids()).toEqual([missed.id])
  })
})

it('is read from Paddle too, whose list has no range of times', async () => {
  const of = await doubtWorld([], { key: false })
  const key = await newPaddleAccount({}, newPaddleKey('live'))
  await setKey(of, of.paddle, key)
  const events = Array.from({ length: 7 }, (_, i) => {
    const at = new Date(NOON + (i - 3) * MINUTE).toISOString()
    const event = paddleEventOf('subscription.updated', paddleSubscription(), {
      at,
      id: `evt_01k${String(i).padStart(6, '0')}`,
    })
    return { ...event, id: event.event_id }
  })
  await changeAccount(key, { objects: Object.fromEntries(events.map((one) => [one.id, one])), page_most: 2 })
  setClock(NOON + 2 * HOUR)
  await keepHouse(of.bindings)
  for (let i = 0; i < 10; i++) {
    advance(SECOND)
    await of.pump()
  }
  const found = (await stored(of.project)).map(({ vendor_event_id }) => vendor_event_id)
  // Those before the connection was made are not its own.
  expect(found.sort()).toEqual(events.slice(3).map(({ id }) => id))
  const { data } = (await call('/platform/v1/billing/subscriptions', of)).body
  expect(data).toHaveLength(4)
})

describe('a look', () => {
  it.each(['disabled', 'paused'])(
    'does not go on while the connection is %s, and does once it is active',
    async (status) => {
      const of = await world()
      setClock(NOON + 2 * HOUR)
      await of.look()
      const missed = happened(NOON + 2 * HOUR)
      await of.holds([missed])
      const change = (to: string) =>
        of.api(`/connections/${of.connection.id}`, { method: 'PATCH', json: { status: to } })
      await change(status)
      for (let i = 0; i < 3; i++) {
        advance(HOUR)
        await of.look()
      }
      expect(await of.ids()).toEqual([])
      await change('active')
      advance(HOUR)
      await of.look()
      expect(await of.ids()).toEqual([missed.id])
    },
  )

  it('that began before what the vendor has now names the rest as a gap', async () => {
    const of = await world()
    setClock(NOON + 2 * HOUR)
    await changeAccount(of.apiKey, { refused: ['events'] })
    await of.look()
    setClock(NOON + 40 * DAY)
    await changeAccount(of.apiKey, { refused: [] })
    const missed = happened(NOON + 20 * DAY)
    await of.holds([missed])
    await of.look()
    expect(await of.ids()).toEqual([missed.id])
    expect(JSON.parse((await of.row()).gaps)).toMatchObject([{ from: NOON }])
  })

  it('does not bring back what was older than our own records', async () => {
    const of = await world()
    const [old, recent] = [happened(NOON + DAY), happened(NOON + 9 * DAY)]
    await of.holds([old, recent])
    setClock(NOON + 10 * DAY)
    await keepHouse({ ...of.bindings, RECORD_RETENTION_DAYS: '5' } as never)
    for (let i = 0; i < 5; i++) {
      advance(SECOND)
      await of.pump({ RECORD_RETENTION_DAYS: '5' })
    }
    expect(await of.ids()).toEqual([recent.id])
    expect(JSON.parse((await of.row()).gaps)).toEqual([])
  })

  it('is forgotten with the key, and with the connection', async () => {
    for (const path of ['/api-key', '']) {
      const of = await world()
      await of.look()
      expect(await of.shown()).not.toBe(null)
      await of.api(`/connections/${of.connection.id}${path}`, { method: 'DELETE' })
      expect(await rows('SELECT * FROM backfills WHERE project_id = ?', of.project)).toEqual([])
    }
  })
})

describe('what the vendor no longer has', () => {
  it('is named as a gap if the key was set after 40 days', async () => {
    const of = await world()
    setClock(NOON + 40 * DAY)
    const missed = happened(NOON + 15 * DAY)
    await of.holds([missed, happened(NOON + DAY)])
    await of.look()
    expect(await of.ids()).toEqual([missed.id])
    expect(await of.shown()).toMatchObject({
      gaps: [{ from: new Date(NOON).toISOString(), to: new Date(NOON + 10 * DAY + HOUR + SECOND).toISOString() }],
    })
    advance(HOUR)
    await of.look()
    expect(JSON.parse((await of.row()).gaps)).toHaveLength(1)
  })

  it('is kept as a gap for good, the latest 20 of them', async () => {
    const of = await world()
    await of.look()
    const earlier = Array.from({ length: MAX_GAPS - 1 }, (_, n) => ({ from: n, to: n + 1 }))
    await rows('UPDATE backfills SET gaps = ? WHERE project_id = ?', JSON.stringify(earlier), of.project)
    for (let i = 0; i < 3; i++) {
      advance(32 * DAY)
      await of.look()
    }
    const gaps = JSON.parse((await of.row()).gaps) as { from: number; to: number }[]
    expect(gaps.slice(0, -3)).toEqual(earlier.slice(2))
    const [before, , last] = gaps.slice(-3)
    expect(before?.from).toBeGreaterThan(MAX_GAPS)
    expect(last?.to).toBeGreaterThan(last?.from ?? 0)
    expect(last?.from).toBeGreaterThan(before?.to ?? 0)
  })
})
