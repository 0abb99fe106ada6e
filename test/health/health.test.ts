import { beforeEach, describe, expect, it } from 'vitest'
import type { Env } from '../../src/env'
import { binOf } from '../../src/inbox/histogram'
import { FINAL_STATUSES, SHOWN_STATUSES, STATUSES } from '../../src/inbox/lifecycle'
import { HOUR, iso, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { deliver, stripeConnection, stripeEvent } from '../harness'
import { cron, memoryQueue, newWorld, rows, settle } from '../inbox/pipeline'
import {
  freshReader,
  insertConnection,
  insertEvents,
  insertMinutes,
  type Seed,
  type SeedMinute,
  seedEvent,
} from '../inbox/seeding'

const NOON = Date.parse('2026-06-10T12:00:30.000Z')
const THIS_MINUTE = Math.floor(NOON / MINUTE)

beforeEach(() => {
  stopClock(NOON)
})

const sweptAgo = (ms: number | null) =>
  ms === null
    ? rows("DELETE FROM state WHERE name = 'last_sweep_at'")
    : rows("INSERT INTO state VALUES ('last_sweep_at', ?1) ON CONFLICT DO UPDATE SET value = ?1", NOON - ms)

type Setting = {
  /** Ages of open events (ms), the first one `received`, the others of the other open statuses. */
  open?: number[]
  /** For how long leases have been run out (ms). */
  leases?: number[]
  sweptAgo?: number | null
  minutes?: Omit<SeedMinute, 'connection'>[]
}

/** A project in a setting, and what its health then says. */
async function healthOf(
  { open = [], leases = [], sweptAgo: ago = 0, minutes = [] }: Setting,
  bindings: Partial<Env> = {},
) {
  const { project, read } = await freshReader()
  const connection = await insertConnection(project, 'stripe')
  const statuses = ['received', 'retrying', 'queued'] as const
  await insertEvents(project, [
    ...open.map((age, i) => seedEvent({ connection, received_at: NOON - age, status: statuses[i % 3] as 'received' })),
    ...leases.map((ms) =>
      seedEvent({ connection, received_at: NOON - SECOND, status: 'processing', lease_until: NOON - ms }),
    ),
  ])
  await insertMinutes(
    project,
    minutes.map((minute) => ({ ...minute, connection })),
  )
  await sweptAgo(ago)
  const { status, body } = await read('/health', bindings)
  expect(status).toBe(200)
  return body
}

const at = (minutesAgo: number, counts: Partial<SeedMinute> = {}) => ({ minute: THIS_MINUTE - minutesAgo, ...counts })
const none = {
  received: 0,
  processed: 0,
  ignored: 0,
  failed: 0,
  duplicates: 0,
  refused: {},
  p50_ms: null,
  p95_ms: null,
  p99_ms: null,
}

describe('the verdict', () => {
  it.each<[string, Setting, 'ok' | 'degraded' | 'failing', RegExp[]]>([
    ['nothing there', {}, 'ok', []],
    ['an event that has waited two minutes', { open: [2 * MINUTE] }, 'ok', []],
    ['… and a millisecond', { open: [2 * MINUTE + 1] }, 'degraded', [/oldest open event has waited for 2 min/]],
    ['15 minutes', { open: [0, 15 * MINUTE] }, 'degraded', [/waited for 15 min/]],
    ['… and a millisecond', { open: [0, 0, 15 * MINUTE + 1] }, 'failing', [/waited for 15 min/]],
    ['a lease that runs out in a millisecond', { leases: [-1] }, 'ok', []],
    ['a lease that runs out now', { leases: [0] }, 'degraded', [/expired leases: 1 /]],
    ['three that have run out', { leases: [0, 1, HOUR, -1] }, 'degraded', [/expired leases: 3 /]],
    ['a sweep five minutes ago', { sweptAgo: 5 * MINUTE }, 'ok', []],
    ['… and a millisecond', { sweptAgo: 5 * MINUTE + 1 }, 'degraded', [/waiting events last ran 5 min ago/]],
    ['a sweep 30 minutes ago', { sweptAgo: 30 * MINUTE }, 'degraded', [/waiting events last ran 30 min ago/]],
    ['… and a millisecond', { sweptAgo: 30 * MINUTE + 1 }, 'failing', [/waiting events last ran 30 min ago/]],
    ['no sweep yet', { sweptAgo: null }, 'degraded', [/waiting events has not run yet/]],
    ['events that were done or ignored', { minutes: [at(0, { received: 9, processed: 5, ignored: 4 })] }, 'ok', []],
    [
      'one that failed',
      { minutes: [at(0, { received: 9, processed: 8, failed: 1 })] },
      'degraded',
      [/1 of 9 events .* failed/],
    ],
    ['one that failed 59 minutes ago', { minutes: [at(59, { received: 9, failed: 1 })] }, 'degraded', [/1 of 9/]],
    ['one that failed an hour ago', { minutes: [at(60, { received: 9, failed: 9 })] }, 'ok', []],
    ['just less than half failed', { minutes: [at(0, { received: 99, failed: 49 })] }, 'degraded', [/49 of 99/]],
    [
      'half failed',
      { minutes: [at(3, { received: 60, failed: 40 }), at(7, { received: 20 })] },
      'failing',
      [/40 of 80/],
    ],
    [
      'repeats and refusals alone',
      { minutes: [at(0, { duplicates: 9, refused: { signature_mismatch: 99 } })] },
      'ok',
      [],
    ],
    [
      'one delivery refused, and nothing accepted',
      { minutes: [at(59, { refused: { signature_mismatch: 1 } })] },
      'degraded',
      [/^the connection stripe refused every delivery of the last hour: signature_mismatch \(1\)$/],
    ],
    ['one refused an hour ago', { minutes: [at(60, { refused: { signature_mismatch: 1 } })] }, 'ok', []],
    [
      'four refused in five minutes, and one accepted before',
      { minutes: [at(5, { received: 1, processed: 1 }), at(4, { refused: { signature_mismatch: 4 } })] },
      'ok',
      [],
    ],
    [
      'five of them',
      {
        minutes: [
          at(5, { received: 1, processed: 1 }),
          at(4, { refused: { signature_mismatch: 4 } }),
          at(0, { refused: { signature_missing: 1 } }),
        ],
      },
      'degraded',
      [/refused every delivery of the last five minutes: signature_mismatch \(4\), signature_missing \(1\)$/],
    ],
    [
      'one accepted since',
      { minutes: [at(4, { refused: { signature_mismatch: 9 } }), at(0, { duplicates: 1 })] },
      'ok',
      [],
    ],
    ['refusals while it was disabled', { minutes: [at(0, { refused: { connection_disabled: 9 } })] }, 'ok', []],
    [
      'everything at once',
      { open: [HOUR], leases: [1], sweptAgo: HOUR, minutes: [at(0, { received: 1, failed: 1 })] },
      'failing',
      [/waited for 60 min/, /last ran 60 min ago/, /1 of 2/],
    ],
    ['two smaller ones', { open: [3 * MINUTE], leases: [1] }, 'degraded', [/waited/, /expired leases/]],
  ])('%s', async (_, setting, status, reasons) => {
    const health = await healthOf(setting)
    expect([health.status, health.reasons]).toEqual([status, reasons.map((reason) => expect.stringMatching(reason))])
    // The thresholds that it says it goes by.
    expect(health.thresholds).toEqual({
      degraded: {
        oldest_pending_age_ms: 2 * MINUTE,
        sweep_age_ms: 5 * MINUTE,
        failed_last_60m: 1,
        failed_fetches_last_60m: 1,
        expired_leases: 1,
        refused_last_5m: 5,
        refused_last_60m: 1,
        store_share: 0.8,
        unread_age_ms: 900_000,
      },
      failing: {
        oldest_pending_age_ms: 15 * MINUTE,
        sweep_age_ms: 30 * MINUTE,
        failed_share_last_60m: 0.5,
        unreadable_secrets: 1,
      },
    })
    const { open = [], leases = [], sweptAgo: ago = 0 } = setting
    const ages = [...open, ...leases.map(() => SECOND)]
    expect(health).toMatchObject({
      as_of: iso(NOON),
      oldest_pending_age_ms: ages.length === 0 ? null : Math.max(...ages),
      expired_leases: leases.filter((ms) => ms >= 0).length,
      last_sweep_at: ago === null ? null : iso(NOON - ago),
    })
  })
})

describe('counts by status', () => {
  it('are those of counting every event, of this project alone', async () => {
    for (const count of [0, 1, 240]) {
      const { project, read } = await freshReader()
      const connection = await insertConnection(project, 'stripe')
      const events: Seed[] = Array.from({ length: count }, (_, i) => {
        const mix = (i * 2654435761) >>> 8
        return seedEvent({
          connection,
          received_at: NOON - i * SECOND,
          status: STATUSES[mix % STATUSES.length] as (typeof STATUSES)[number],
          lease_until: mix % STATUSES.length === STATUSES.indexOf('processing') ? NOON - 5 + (mix % 11) : null,
        })
      })
      await insertEvents(project, events)
      // As finish keeps them: expectConsistent compares them with the events in the tests of the pipeline.
      await rows(
        'INSERT INTO totals SELECT project_id, status, count(*) FROM events WHERE project_id = ? AND due_at IS NULL GROUP BY 1, 2',
        project,
      )
      const { body } = await read('/health')
      expect(body.counts).toEqual(
        Object.fromEntries(
          SHOWN_STATUSES.map((status) => [status, events.filter((event) => event.status === status).length]),
        ),
      )
      const open = events.filter(({ status }) => !(FINAL_STATUSES as readonly string[]).includes(status))
      expect(body.oldest_pending_age_ms).toBe(
        open.length === 0 ? null : NOON - Math.min(...open.map(({ received_at }) => received_at)),
      )
      expect(body.expired_leases).toBe(
        open.filter(({ lease_until }) => lease_until !== null && lease_until <= NOON).length,
      )
    }
  })

  it('follow what happens: received, done, failed, replayed', async () => {
    const world = await newWorld()
    const counts = async () => {
      const { body } = await world.api('/webhooks/health')
      return Object.fromEntries(Object.entries(body.counts).filter(([, n]) => n !== 0))
    }
    expect(await counts()).toEqual({})
    const done = (await world.send(stripeEvent())).body.event_ids[0]
    await world.send({ ...stripeEvent(), data: {} })
    expect(await counts()).toEqual({ received: 2 })
    await settle(world)
    expect(await counts()).toEqual({ processed: 1, failed: 1 })
    await world.replay(done)
    expect(await counts()).toEqual({ queued: 1, failed: 1 })
    await settle(world)
    expect(await counts()).toEqual({ processed: 1, failed: 1 })
  })

  it('of open events stop at 10,000', async () => {
    const { project, read } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    await insertEvents(
      project,
      Array.from({ length: 10_050 }, (_, i) =>
        seedEvent({ connection, received_at: NOON - 20_000 + i, status: 'received' }),
      ),
    )
    const { body } = await read('/health')
    expect([body.counts.received, body.oldest_pending_age_ms]).toEqual([10_000, 20_000])
  })
})

describe('the last five and sixty minutes', () => {
  it('are whole minutes, this one included, and add up what each connection had', async () => {
    const counts = (n: number, ms: number): Partial<SeedMinute> => ({
      received: 10 * n,
      processed: 5 * n,
      ignored: 3 * n,
      failed: n,
      duplicates: 2 * n,
      refused: { signature_mismatch: n, connection_disabled: 1 },
      lag: { [binOf(ms)]: 2 },
      lag_max: ms,
      lag_sum: 2 * ms,
    })
    const { last_5m, last_60m } = await healthOf({
      minutes: [
        at(0, counts(1, 0)),
        at(4, counts(2, 100)),
        at(5, counts(4, 1000)),
        at(59, counts(8, 10_000)),
        at(60, counts(16, 5)),
      ],
    })
    const window = (n: number, minutes: number) => ({
      received: 10 * n,
      processed: 5 * n,
      ignored: 3 * n,
      failed: n,
      duplicates: 2 * n,
      refused: { signature_mismatch: n, connection_disabled: minutes },
    })
    expect(last_5m).toMatchObject(window(3, 2))
    expect(last_60m).toMatchObject(window(15, 4))
    /** Within 1 %: closeTo takes digits. */
    const near = (ms: number) => (ms === 0 ? 0 : expect.closeTo(ms, -Math.log10(ms / 50)))
    expect([last_5m.p50_ms, last_5m.p95_ms, last_5m.p99_ms]).toEqual([0, near(100), near(100)])
    expect([last_60m.p50_ms, last_60m.p95_ms, last_60m.p99_ms]).toEqual([near(100), near(10_000), near(10_000)])
  })

  it('are zeros and nulls when nothing came in', async () => {
    expect(await healthOf({})).toMatchObject({ last_5m: none, last_60m: none })
  })
})

describe('connections', () => {
  it('tell when each last received, whatever came of it; deleted ones are gone', async () => {
    const { project, read } = await freshReader()
    const other = await freshReader()
    const busy = await insertConnection(project, 'stripe')
    const quiet = await insertConnection(project, 'paddle')
    const silent = await insertConnection(project, 'shopify')
    const gone = await insertConnection(project, 'adyen', { deleted: true })
    await insertConnection(other.project, 'stripe')
    await insertEvents(project, [
      ...[9, 3, 5].map((hours) =>
        seedEvent({ connection: busy, received_at: NOON - hours * HOUR, status: hours === 3 ? 'failed' : 'processed' }),
      ),
      seedEvent({ connection: quiet, received_at: NOON - 300 * HOUR }),
      seedEvent({ connection: gone, received_at: NOON }),
    ])
    const { body } = await read('/health')
    const none = { accepted: 0, refused: {} }
    const idle = { held: 0, signing_secrets: 1, backfill: null, last_5m: none, last_60m: none }
    const rest = { livemode: true, status: 'active', ...idle }
    expect(body.connections).toEqual(
      [
        { id: busy, name: 'stripe', vendor: 'stripe', last_received_at: iso(NOON - 3 * HOUR), ...rest },
        { id: quiet, name: 'paddle', vendor: 'paddle', last_received_at: iso(NOON - 300 * HOUR), ...rest },
        { id: silent, name: 'shopify', vendor: 'shopify', last_received_at: null, ...rest },
      ].sort((a, b) => (a.id < b.id ? -1 : 1)),
    )
  })
})

describe('a connection that refuses', () => {
  it('counts its own refusals by cause, and is named until it accepts something', async () => {
    const world = await newWorld()
    const second = await stripeConnection(world.token, world.project)
    await sweptAgo(0)
    const bindings = { EVENTS: world.queue.EVENTS }
    await deliver(second.id, stripeEvent(), { bindings })
    for (let n = 0; n < 3; n++) await world.send(stripeEvent(), { secret: 'whsec_of_another_endpoint' })
    await world.send(stripeEvent(), { headers: { 'Stripe-Signature': 'nonsense' } })
    const refused = { signature_mismatch: 3, signature_malformed: 1 }
    const health = async () => (await world.api('/webhooks/health')).body
    const before = await health()
    expect(before).toMatchObject({ status: 'degraded', reasons: [expect.stringContaining('the connection Stripe ')] })
    const of = ({ connections }: typeof before, id: string) => connections.find((one) => one.id === id)
    expect(of(before, world.connection.id)).toMatchObject({
      last_5m: { accepted: 0, refused },
      last_60m: { accepted: 0, refused },
    })
    expect(of(before, second.id)).toMatchObject({ last_60m: { accepted: 1, refused: {} } })
    await world.send(stripeEvent())
    const after = await health()
    expect(after).toMatchObject({ status: 'ok', reasons: [] })
    expect(of(after, world.connection.id)?.last_60m).toEqual({ accepted: 1, refused })
  })
})

it.each<[string, { secrets?: number; disabled?: boolean; deleted?: boolean; received?: boolean }, string[]]>([
  ['with a secret', {}, []],
  ['without, which has not received anything', { secrets: 0 }, []],
  [
    'without',
    { secrets: 0, received: true },
    ['the connection paddle has no signing secret and refuses every delivery'],
  ],
  ['disabled, without', { secrets: 0, disabled: true }, []],
  ['deleted, without', { secrets: 0, deleted: true }, []],
])('a connection %s', async (_, { received, ...options }, reasons) => {
  const { project, read } = await freshReader()
  await sweptAgo(0)
  await insertConnection(project, 'stripe')
  const connection = await insertConnection(project, 'paddle', options)
  if (received) await insertEvents(project, [seedEvent({ connection, received_at: NOON })])
  const status = reasons.length > 0 ? 'degraded' : 'ok'
  expect((await read('/health')).body).toMatchObject({ status, reasons })
})

it('notes the sweep that the cron ran', async () => {
  const { read } = await freshReader()
  await sweptAgo(null)
  expect((await read('/health')).body.last_sweep_at).toBeNull()
  advance(MINUTE)
  await cron({ EVENTS: memoryQueue().EVENTS })
  expect((await read('/health')).body).toMatchObject({ status: 'ok', last_sweep_at: iso(NOON + MINUTE) })
})

it.each([
  ['what the Queue says', async () => ({ backlogCount: 12, backlogBytes: 3400 }), 12],
  [
    'null where it does not say',
    async () => {
      throw new Error('no metrics here')
    },
    null,
  ],
])('gives the backlog: %s', async (_, metrics, backlog) => {
  expect((await healthOf({}, { EVENTS: { metrics } as unknown as Queue<unknown> })).queue_backlog).toBe(backlog)
})
