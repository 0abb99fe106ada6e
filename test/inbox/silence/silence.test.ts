import { beforeEach, describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../../src/db/client'
import { MADE_UP_HOURS, WATCHED_AT_ONCE } from '../../../src/inbox/silence/limits'
import { nothingKnown } from '../../../src/inbox/silence/quiet'
import { watchConnections } from '../../../src/inbox/silence/watch'
import { HOUR, MINUTE } from '../../../src/lib/time'
import { advance, stopClock } from '../../clock'
import { noticesIn } from '../../exposures/world'
import { call, countingD1, fillTable, STORE, stripeConnection, stripeEvent } from '../../harness'
import { keepHouse, newWorld, only, rows, type World } from '../pipeline'

const NOON = Date.parse('2026-11-27T12:00:00Z')
beforeEach(() => {
  stopClock(NOON)
})

type Row = { hour: number; seen: number; gap: number; silent_since: number | null; hours: string }
const known = (id: string) => only(rows<Row>('SELECT * FROM connection_hours WHERE connection_id = ?', id))

/** Lets the connection look back on eight weeks with a delivery in each hour, as if the cron had seen them. */
async function asIfBusy({ project, connection }: World, id = connection.id) {
  const hour = Math.floor(Date.now() / HOUR)
  const { longest } = nothingKnown(0)
  await STORE.prepare(
    'INSERT OR REPLACE INTO connection_hours (project_id, connection_id, hour, seen, hours, longest, gap, surprise) VALUES (?, ?, ?, 1344, ?, ?, 0, 0)',
  )
    .bind(project, id, hour, JSON.stringify(Array(168).fill('11111111')), JSON.stringify(longest))
    .run()
}

/** Lets hours pass, each with a look at the connections in its second minute. */
async function hours(n: number) {
  for (let i = 0; i < n; i++) {
    advance(HOUR)
    await keepHouse()
  }
}

const health = async ({ project, token }: World) =>
  (await call('/platform/v1/billing/webhooks/health', { project, token })).body
const silentIn = async ({ project }: World) =>
  (await noticesIn(project)).filter(({ kind }) => kind === 'connection_silent')

describe('a connection that was busy, and receives nothing', () => {
  it('is told of after hours that cannot be chance, once, and no longer once something comes', async () => {
    const world = await newWorld()
    await asIfBusy(world)
    await hours(6)
    expect(await silentIn(world)).toEqual([])
    expect((await health(world)).reasons).toEqual([])
    await hours(1)
    const since = new Date(NOON).toISOString().replace('.000', '')
    const open = { object_id: world.connection.id, closed_at: null }
    expect(await silentIn(world)).toMatchObject([open])
    const [{ facts } = { facts: null }] = await silentIn(world)
    expect(facts).toEqual({ name: 'Stripe', since })
    const { status, reasons } = await health(world)
    expect([status, reasons]).toEqual([
      'degraded',
      [
        'the connection Stripe has accepted no deliveries for 7 h, which is unusual for these hours of the week: check its webhook endpoint in the vendor’s dashboard',
      ],
    ])
    await hours(2)
    expect(await silentIn(world)).toMatchObject([open])
    await world.send(stripeEvent())
    await hours(1)
    expect(await silentIn(world)).toMatchObject([{ object_id: world.connection.id, closed_at: Date.now() }])
    expect((await health(world)).reasons).not.toContainEqual(expect.stringContaining('accepted no deliveries'))
    expect(await known(world.connection.id)).toMatchObject({ gap: 0, silent_since: null })
  })

  it.each([
    ['is disabled', { status: 'disabled' }, false],
    ['is in test mode', { livemode: false }, false],
    ['is paused, but still takes deliveries', { status: 'paused' }, true],
  ])('but %s', async (_, change, isTold) => {
    const world = await newWorld()
    await asIfBusy(world)
    await world.api(`/connections/${world.connection.id}`, { method: 'PATCH', json: change })
    await hours(8)
    expect((await silentIn(world)).length).toBe(Number(isTold))
  })

  it('is not silent because it was disabled for some hours', async () => {
    const world = await newWorld()
    await asIfBusy(world)
    const change = (status: string) =>
      world.api(`/connections/${world.connection.id}`, { method: 'PATCH', json: { status } })
    await change('disabled')
    await hours(9)
    await change('active')
    await hours(1)
    expect(await silentIn(world)).toEqual([])
    expect(await known(world.connection.id)).toMatchObject({ gap: 1 })
  })

  it('is forgotten when it is deleted, and its notice is closed', async () => {
    const world = await newWorld()
    await asIfBusy(world)
    await hours(7)
    await world.api(`/connections/${world.connection.id}`, { method: 'DELETE' })
    await hours(1)
    expect(await silentIn(world)).toMatchObject([{ closed_at: Date.now() }])
    expect(await rows('SELECT * FROM connection_hours WHERE connection_id = ?', world.connection.id)).toEqual([])
  })
})

describe('an hour', () => {
  it('counts by its own deliveries, also in the last minute, for this connection alone', async () => {
    const world = await newWorld()
    const other = await stripeConnection(world.token, world.project)
    await keepHouse() // 12:00: the hour before is seen, and nothing came
    advance(59 * MINUTE)
    await world.send(stripeEvent())
    advance(2 * MINUTE)
    await keepHouse()
    const at = Math.floor(NOON / HOUR)
    expect(await known(world.connection.id)).toMatchObject({ hour: at + 1, seen: 2, gap: 0 })
    expect(await known(other.id)).toMatchObject({ hour: at + 1, seen: 2, gap: 2 })
    const marks = JSON.parse((await known(world.connection.id)).hours)
    expect([marks[(at - 1) % 168], marks[at % 168], marks.join('')]).toEqual(['0', '1', '01'])
    // A second look in the same hour changes nothing.
    const before = await known(world.connection.id)
    await keepHouse()
    expect(await known(world.connection.id)).toEqual(before)
  })

  it('that a refused delivery came in is quiet: anybody can send one', async () => {
    const world = await newWorld()
    await keepHouse()
    await world.send(stripeEvent(), { headers: { 'Stripe-Signature': 't=1,v1=00' } })
    await hours(1)
    expect(await known(world.connection.id)).toMatchObject({ seen: 2, gap: 2 })
  })

  it('is made up for if the cron did not run, up to a day; a longer time was not watched', async () => {
    const world = await newWorld()
    await keepHouse()
    advance(3 * HOUR)
    await world.send(stripeEvent())
    advance((MADE_UP_HOURS - 3) * HOUR)
    await keepHouse()
    expect(await known(world.connection.id)).toMatchObject({ seen: 1 + MADE_UP_HOURS, gap: MADE_UP_HOURS - 4 })
    await asIfBusy(world)
    advance((MADE_UP_HOURS + 1) * HOUR)
    await keepHouse()
    expect(await known(world.connection.id)).toMatchObject({ seen: 1345, gap: 1, silent_since: null })
    expect(await silentIn(world)).toEqual([])
  })
})

it('costs six rows read and one written for each connection, and comes to all of them in steps', async () => {
  const world = await newWorld()
  await fillTable('connections', world.project, WATCHED_AT_ONCE + 10)
  const { DB, count } = countingD1()
  const db = openDb<Db>(DB)
  /** A look at all of the store. */
  const lookAtAll = async (now: number) => {
    let [after, done, steps] = ['', 0, 0]
    do {
      const step = await watchConnections(db, after, now)
      done += step.done
      steps += 1
      after = step.after ?? ''
    } while (after !== '')
    return { done, steps }
  }
  await lookAtAll(NOON - HOUR)
  Object.assign(count, { trips: 0, rows_read: 0, rows_written: 0 })
  const { done, steps } = await lookAtAll(NOON)
  expect(done).toBeGreaterThan(WATCHED_AT_ONCE)
  expect(count.trips).toBeLessThanOrEqual(2 * steps)
  expect(count.rows_read / done).toBeLessThan(6.5)
  expect(count.rows_written / done).toBeLessThan(1.1)
})
