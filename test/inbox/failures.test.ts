import { beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { EVENT_ERROR_CODES, type EventErrorCode } from '../../src/vendors/event-errors'
import { advance, stopClock } from '../clock'
import { call, countingD1 } from '../harness'
import { freshReader, insertConnection, insertEvents, type Seed, seedEvent } from './seeding'

const NOW = Date.parse('2026-11-20T12:00:00Z')
beforeAll(() => {
  stopClock()
  advance(NOW - Date.now())
})

type Reader = Awaited<ReturnType<typeof freshReader>>

/** Events that failed with a code, the newest `ago` before now, each an hour before the next. */
function failed(connection: string, code: EventErrorCode | null, n: number, ago: number, fields: Partial<Seed> = {}) {
  return Array.from({ length: n }, (_, i) => {
    const last_error = `error ${i}`
    return seedEvent({
      connection,
      received_at: NOW - ago - i * HOUR,
      status: 'failed',
      last_error,
      last_error_code: code,
      ...fields,
    })
  })
}

async function causesOf({ read }: Pick<Reader, 'read'>) {
  const { status, body } = await read('/failures')
  expect(status).toBe(200)
  return body
}

it('groups failed events by connection and kind of error, those with the most events first', async () => {
  const here = await freshReader()
  const elsewhere = await freshReader()
  const stripe = await insertConnection(here.project, 'stripe')
  const paddle = await insertConnection(here.project, 'paddle', { deleted: true })
  const refused = failed(stripe, 'vendor_key_refused', 30, 2 * HOUR)
  const invalid = failed(stripe, 'payload_invalid', 3, DAY)
  await insertEvents(here.project, [
    ...refused,
    ...invalid,
    ...failed(paddle, 'payload_invalid', 5, 20 * DAY),
    ...failed(paddle, null, 1, HOUR),
    // None of these has failed, or was delivered.
    ...failed(stripe, 'payload_invalid', 4, DAY, { status: 'retrying' }),
    ...failed(stripe, 'payload_invalid', 4, DAY, { status: 'ignored' }),
    ...failed(stripe, 'vendor_failed', 4, DAY).map((event) => ({ ...event, id: newId('ftc', event.received_at) })),
  ])
  await insertEvents(
    elsewhere.project,
    failed(await insertConnection(elsewhere.project, 'stripe'), 'vendor_failed', 2, DAY),
  )

  const { data, truncated } = await causesOf(here)
  expect(truncated).toBe(false)
  expect(data.map(({ connection_id, error_code, count }) => [connection_id, error_code, count])).toEqual([
    [stripe, 'vendor_key_refused', 30],
    [paddle, 'payload_invalid', 5],
    [stripe, 'payload_invalid', 3],
    [paddle, null, 1],
  ])
  expect(data[0]).toMatchObject({
    vendor: 'stripe',
    first_received_at: iso(NOW - 31 * HOUR),
    last_received_at: iso(NOW - 2 * HOUR),
    last_event_id: refused[0]?.id,
    last_error: 'error 0',
    replay_may_succeed: true,
  })
  expect(data.map(({ replay_may_succeed }) => replay_may_succeed)).toEqual([true, false, false, true])
  // From ten in the morning of today back to five in the morning of yesterday.
  expect(data[0].days.length).toBe(14)
  expect(data[0].days.slice(-3)).toEqual([
    { date: '2026-11-18', count: 0 },
    { date: '2026-11-19', count: 19 },
    { date: '2026-11-20', count: 11 },
  ])
  expect(data[1]?.days.every(({ count }: { count: number }) => count === 0)).toBe(true) // longer ago

  // The events of a cause are found, and replayed, by its fields.
  const { data: found } = (
    await here.read(`/search?status=failed&connection_id=${stripe}&error_code=payload_invalid&limit=100`)
  ).body
  expect(found.map(({ id }) => id)).toEqual(invalid.map(({ id }) => id))
  const { body } = await call('/platform/v1/billing/webhooks/replay', {
    method: 'POST',
    token: here.secret,
    project: here.project,
    json: { filter: { status: ['failed'], connection_id: stripe, error_code: 'vendor_key_refused' }, dry_run: true },
  })
  expect(body.matched).toBe(30)
})

it('is empty where nothing failed', async () => {
  expect(await causesOf(await freshReader())).toEqual({ data: [], truncated: false })
})

it('reads a bounded number of rows, of the newest failures, and says that there are more', async () => {
  const here = await freshReader()
  const stripe = await insertConnection(here.project, 'stripe')
  await insertEvents(here.project, [
    ...failed(stripe, 'payload_invalid', 700, HOUR),
    ...failed(stripe, 'vendor_failed', 700, 600 * HOUR),
    ...Array.from({ length: 3000 }, (_, i) => seedEvent({ connection: stripe, received_at: NOW - i * HOUR })),
  ])
  await here.read('/failures')
  const { DB, count } = countingD1()
  const { body } = await here.read('/failures', { DB })
  expect(body.truncated).toBe(true)
  expect(body.data.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(1000)
  expect(body.data[0]).toMatchObject({ error_code: 'payload_invalid', count: 700 })
  expect(count.trips).toBe(1)
  expect(count.rows_read).toBeLessThanOrEqual(4100)
})

it('lists fifty causes at most', async () => {
  const here = await freshReader()
  for (let n = 0; n < 6; n++) {
    const connection = await insertConnection(here.project, 'stripe')
    await insertEvents(
      here.project,
      EVENT_ERROR_CODES.flatMap((code) => failed(connection, code, 1, HOUR)),
    )
  }
  const { data, truncated } = await causesOf(here)
  expect([6 * EVENT_ERROR_CODES.length > 50, data.length, truncated]).toEqual([true, 50, true])
})
