import { beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/lib/ids'
import { DAY, HOUR, iso } from '../../src/lib/time'
import { EVENT_ERROR_CODES, type EventErrorCode } from '../../src/vendors/event-errors'
import { advance, stopClock } from '../clock'
import { call, countingD1, type Json } from '../harness'
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
  expect(await causesOf(await freshReader())).toEqual({ data: [], truncated: false, mutes: [] })
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

it('shows which causes are muted, until when and by whom; their events are counted as before', async () => {
  stopClock(NOW)
  const here = await freshReader()
  const stripe = await insertConnection(here.project, 'stripe')
  const paddle = await insertConnection(here.project, 'paddle', { deleted: true })
  await insertEvents(here.project, [
    ...failed(stripe, 'payload_invalid', 3, HOUR),
    ...failed(paddle, null, 2, HOUR),
    ...failed(stripe, 'vendor_failed', 1, HOUR),
  ])
  const send = (method: string, cause: string, json?: unknown) =>
    call(`/platform/v1/billing/webhooks/failures/${cause}/mute`, {
      ...{ method, token: here.owner.token, project: here.project, ...(json !== undefined && { json }) },
    })
  const mute = (cause: string, until: string | null) => send('PUT', cause, { until })
  const muted = async () => {
    const { data, mutes } = await causesOf(here)
    const shown = data.map(({ count, mute }) => [count, mute === null ? null : mute.until])
    return [shown, mutes.map(({ error_code, until }: { error_code: string; until: string }) => [error_code, until])]
  }
  const soon = iso(NOW + HOUR)
  expect((await mute(`${stripe}/payload_invalid`, soon)).body).toEqual({
    connection_id: stripe,
    error_code: 'payload_invalid',
    until: soon,
    muted_at: iso(NOW),
    muted_by: here.owner.user,
  })
  await mute(`${paddle}/none`, null)
  await mute(`${stripe}/object_busy`, soon) // no event has failed so
  const all = [null, 'payload_invalid', 'object_busy']
  const [shown, mutes] = await muted()
  expect(shown).toEqual([
    [3, soon],
    [2, null],
    [1, null],
  ])
  expect(new Set(mutes?.map((mute) => mute[0]))).toEqual(new Set(all))
  expect((await causesOf(here)).data[1]?.mute).toMatchObject({ connection_id: paddle, error_code: null, until: null })

  // By itself when its time is over, or when somebody unmutes it.
  advance(HOUR)
  expect(await muted()).toEqual([
    [
      [3, null],
      [2, null],
      [1, null],
    ],
    [[null, null]],
  ])
  expect((await send('DELETE', `${paddle}/none`)).status).toBe(204)
  expect((await send('DELETE', `${paddle}/none`)).status).toBe(204)
  expect((await muted())[1]).toEqual([])

  const elsewhere = await freshReader()
  const theirs = await insertConnection(elsewhere.project, 'stripe')
  for (const cause of [`${theirs}/payload_invalid`, `${stripe}/unheard_of`]) {
    expect((await mute(cause, null)).status).toBe(404)
    expect((await send('DELETE', cause)).status).toBe(404)
  }
  const past = await mute(`${stripe}/payload_invalid`, iso(NOW + HOUR))
  expect([past.status, past.body.errors[0]]).toMatchObject([422, { pointer: '/until', code: 'out_of_range' }])
  const { body } = await call('/platform/v1/audit-log', { token: here.owner.token, project: here.project })
  const entries = body.data.filter(({ action }) => action.startsWith('connection.failures_'))
  const said = entries.map(({ action, object, details }) => [
    action,
    object.id,
    (details as Json).error_code,
    (details as Json).until,
  ])
  expect(said.sort()).toEqual(
    [
      ['connection.failures_unmuted', paddle, 'none', undefined],
      ['connection.failures_muted', stripe, 'object_busy', soon],
      ['connection.failures_muted', paddle, 'none', null],
      ['connection.failures_muted', stripe, 'payload_invalid', soon],
    ].sort(),
  )
})
