import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SECOND } from '../../../src/lib/time'
import { begin, STRIPE_SECRET, stripeEvent } from '../../harness'
import { advance, captureLog, rows, stopClock, tamperedD1 } from '../pipeline'
import { type DiagnosisWorld, diagnosisWorld, stripeSigned } from './world'

beforeEach(() => {
  stopClock(Math.ceil(Date.now() / 1000) * 1000)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const BODY = JSON.stringify(stripeEvent())
const WRONG = 'whsec_of_nobody_that_we_know'
const JUNK = { 'Stripe-Signature': `t=1,v1=${'0'.repeat(64)}` }
const STRANGER = { 'CF-Connecting-IP': '192.0.2.66' }
const VENDOR = { 'CF-Connecting-IP': '198.51.100.7' }

const verdicts = async (world: DiagnosisWorld) => (await world.diagnoses()).map(({ verdict }) => verdict)

/** A database that counts the trips that diagnose, and those that write. */
function counting() {
  const count = { diagnosed: 0, written: 0 }
  const DB = tamperedD1((trip) => {
    if (/from "removed_secrets"/i.test(trip.sql)) count.diagnosed += 1
    if (/insert into "diagnoses"/i.test(trip.sql)) count.written += 1
    return trip.run()
  })
  return { DB, count }
}

it('1,000 refused deliveries within ten seconds cost one diagnosis and one row', async () => {
  const world = await diagnosisWorld()
  const headers = await stripeSigned(BODY, WRONG)
  const { DB, count } = counting()
  for (let i = 0; i < 10; i++) {
    const begun = await Promise.all(
      Array.from({ length: 100 }, () =>
        begin(`/ingest/${world.connection.id}`, { method: 'POST', body: BODY, headers, bindings: { DB } }),
      ),
    )
    expect(new Set(begun.map(({ response }) => response.status))).toEqual(new Set([401]))
    await Promise.all(begun.map(({ rest }) => rest()))
    advance(0.9 * SECOND)
  }
  expect(count).toEqual({ diagnosed: 1, written: 1 })
  expect(await verdicts(world)).toEqual(['unknown'])
  advance(SECOND)
  await begin(`/ingest/${world.connection.id}`, { method: 'POST', body: BODY, headers, bindings: { DB } }).then(
    ({ rest }) => rest(),
  )
  expect(count).toEqual({ diagnosed: 2, written: 2 })
})

it('the answer is the same with and without a diagnosis, and is sent before it begins', async () => {
  const { connection, connect } = await diagnosisWorld()
  await connect({ signing_secret: WRONG })
  const headers = await stripeSigned(BODY, WRONG)
  const { DB, count } = counting()
  const answers: unknown[] = []
  for (const diagnosed of [1, 1, 1]) {
    const trips = count.diagnosed
    const { response, rest } = await begin(`/ingest/${connection.id}`, {
      method: 'POST',
      body: BODY,
      headers,
      bindings: { DB },
    })
    const { request_id, ...body } = (await response.json()) as Record<string, unknown>
    expect(count.diagnosed).toBe(trips)
    const { 'x-request-id': id, ...sent } = Object.fromEntries(response.headers)
    expect(id).toBe(request_id)
    answers.push({ status: response.status, sent, body })
    await rest()
    expect(count.diagnosed).toBe(diagnosed)
  }
  expect(answers[0]).toMatchObject({ status: 401, body: { code: 'signature_mismatch' } })
  expect(answers[1]).toEqual(answers[0])
  expect(answers[2]).toEqual(answers[0])
})

it('junk pushes out junk alone: the last of each verdict stays among the last ten', async () => {
  const world = await diagnosisWorld()
  const { post } = world
  await post(BODY, await stripeSigned(BODY, STRIPE_SECRET, Math.floor(Date.now() / 1000) - 600))
  advance(10 * SECOND)
  await post(BODY, { 'Paddle-Signature': 'ts=1;h1=00' })
  for (let i = 0; i < 12; i++) {
    advance(10 * SECOND)
    await post(BODY, JUNK)
  }
  expect(await verdicts(world)).toEqual([...Array.from({ length: 8 }, () => 'unknown'), 'other_vendor', 'clock'])
  const { project, connection } = world
  expect(await rows('SELECT at FROM diagnoses WHERE project_id = ?', project)).toHaveLength(10)
  const pages = await world.api(`/connections/${connection.id}/diagnoses?limit=9`)
  expect(pages.body).toMatchObject({ has_more: true })
  const rest = await world.api(`/connections/${connection.id}/diagnoses?limit=9&cursor=${pages.body.next_cursor}`)
  expect(rest.body.data).toMatchObject([{ verdict: 'clock' }])
})

it('a vendor is diagnosed beside a stranger who sends junk all the time', async () => {
  const world = await diagnosisWorld()
  const { post, connection, connect, queue } = world
  await connect({ signing_secret: WRONG })
  await post(BODY, { ...JUNK, ...STRANGER })
  const headers = { ...(await stripeSigned(BODY, WRONG)), ...VENDOR }
  advance(10 * SECOND)
  const junk = () =>
    begin(`/ingest/${connection.id}`, {
      method: 'POST',
      body: BODY,
      headers: { ...JUNK, ...STRANGER },
      bindings: { EVENTS: queue.EVENTS, REFUSAL_FLUSH_MS: '200' },
    })
  const before = await Promise.all([junk(), junk(), junk()])
  await post(BODY, headers)
  const after = await Promise.all([junk(), junk()])
  await Promise.all([...before, ...after].map(({ rest }) => rest()))
  expect(await verdicts(world)).toEqual(['other_connection', 'unknown'])
})

it('another isolate adds nothing to a diagnosis of a moment ago, unless a signature proves more', async () => {
  const world = await diagnosisWorld()
  const { project, connection, post, connect } = world
  const elsewhere = (verdict: string, ago: number) =>
    rows(
      "INSERT INTO diagnoses (project_id, connection_id, at, cause, verdict, tried, size, headers) VALUES (?, ?, ?, 'signature_mismatch', ?, 1, 2, '[]')",
      project,
      connection.id,
      Date.now() - ago,
      verdict,
    )
  await elsewhere('unknown', 9 * SECOND)
  await post(BODY, JUNK)
  expect(await verdicts(world)).toEqual(['unknown'])
  await connect({ signing_secret: WRONG })
  advance(10 * SECOND)
  await elsewhere('unknown', SECOND)
  await post(BODY, await stripeSigned(BODY, WRONG))
  expect((await verdicts(world))[0]).toBe('other_connection')
  advance(11 * SECOND)
  await elsewhere('clock', SECOND)
  await post(BODY, await stripeSigned(BODY, WRONG))
  expect((await verdicts(world))[0]).toBe('clock')
})

it('tries the secrets of the newest connections, up to a limit', async () => {
  const world = await diagnosisWorld()
  const { connect, post } = world
  const secret = (n: number) => `whsec_number_${n}_0123456789`
  await connect({ signing_secret: secret(0) })
  for (let n = 1; n <= 12; n++) {
    advance(1)
    const { id } = await connect({ signing_secret: secret(n) })
    if (n > 10) continue
    const [{ secrets } = { secrets: '' }] = await rows<{ secrets: string }>(
      'SELECT secrets FROM connections WHERE id = ?',
      id,
    )
    const [one] = JSON.parse(secrets)
    await rows('UPDATE connections SET secrets = ? WHERE id = ?', JSON.stringify([one, one, one, one, one]), id)
  }
  await post(BODY, await stripeSigned(BODY, secret(0)))
  expect((await world.diagnoses())[0]).toMatchObject({ verdict: 'unknown', secrets_tried: 48 })
  advance(10 * SECOND)
  await post(BODY, await stripeSigned(BODY, secret(12)))
  expect((await world.diagnoses())[0]).toMatchObject({ verdict: 'other_connection' })
})

it('is given up while the database does not answer, and the counts are kept', async () => {
  const world = await diagnosisWorld()
  const { of } = captureLog()
  const DB = tamperedD1((trip) => {
    if (/from "removed_secrets"/i.test(trip.sql)) throw new Error('D1_ERROR: no such thing')
    return trip.run()
  })
  const headers = await stripeSigned(BODY, WRONG)
  const { rest } = await begin(`/ingest/${world.connection.id}`, {
    method: 'POST',
    body: BODY,
    headers,
    bindings: { DB },
  })
  await rest()
  expect(of('refusal_not_diagnosed')).toMatchObject([{ connection_id: world.connection.id }])
  expect(await verdicts(world)).toEqual([])
  const { body } = await world.api('/webhooks/health')
  expect(body.last_60m.refused).toEqual({ signature_mismatch: 1 })
})
