import { describe, expect, it } from 'vitest'
import { type Db, openDb } from '../../src/db/client'
import { CHUNK_ROWS } from '../../src/db/limits'
import { KEPT_DAYS } from '../../src/feed/limits'
import { purgeChanges } from '../../src/feed/retention'
import { DAY } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { call, cases, countingD1, freshKey, mint, STORE, STORE_NUMBER } from '../harness'
import { cron } from '../inbox/pipeline'
import { follow, newWorld, type World } from './world'

/** Makes so many consumers. */
async function make({ put }: World, n: number): Promise<void> {
  for (let i = 0; i < n; i++) await put(`consumers/ext:${i}`, {})
}

describe('a position in the feed', () => {
  it('goes on behind each change, whatever the size of a page', async () => {
    const world = await newWorld()
    await make(world, 7)
    const whole = await follow(world)
    const numbers = whole.found.map(({ number }) => number)
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1))
    for (const limit of [1, 2, 3, 500]) expect(await follow(world, { limit })).toEqual(whole)
    for (const { id, number } of whole.found) {
      expect((await follow(world, { after: id })).found).toEqual(whole.found.slice(number))
    }
  })

  it('can be taken first, so that lists that are read then miss nothing', async () => {
    const world = await newWorld()
    await make(world, 2)
    const { body } = await world.changes('?after=latest')
    expect(body).toEqual({ data: [], next: expect.stringMatching(/^chg_/), has_more: false, poll_after_s: 5 })
    await world.put('consumers/ext:new', {})
    const { found } = await follow(world, { after: body.next })
    expect(found.map(({ type }) => type)).toEqual(['consumer.created'])
  })

  it.each([
    ['of another numbering', (id: string) => id.replace(/^chg_[^_]+/, 'chg_00000000'), 410, 'cursor_expired'],
    ['ahead of the newest change', (id: string) => id.replace(/\d+$/, '1000'), 410, 'cursor_expired'],
    ['that is none', () => 'csm_1', 400, 'invalid_cursor'],
    ['with a number that is none', (id: string) => id.replace(/\d+$/, '007'), 400, 'invalid_cursor'],
  ])('%s is refused', async (_, changed, status, code) => {
    const world = await newWorld()
    const { position } = await follow(world)
    const refused = await world.changes(`?after=${changed(position)}`)
    expect([refused.status, refused.body.code]).toEqual([status, code])
  })

  it('is refused once the changes after it are no longer kept, and the newest number stays', async () => {
    stopClock()
    const world = await newWorld('key')
    await make(world, 3)
    const { found, position } = await follow(world)
    const old = found[1]?.id ?? ''
    advance((KEPT_DAYS + 1) * DAY)
    for (let i = 0; i < 3; i++) await cron()
    expect((await world.changes(`?after=${old}`)).body.code).toBe('cursor_expired')
    expect((await follow(world, { after: position })).found).toEqual([])
    await world.put('consumers/ext:new', {})
    const after = await follow(world, { after: position })
    // The newest row has stayed, so what is just before it is still a position.
    expect((await follow(world, { after: found.at(-2)?.id ?? '' })).found.at(-1)).toEqual(after.found.at(-1))
    expect((await world.changes(`?after=${found.at(-3)?.id}`)).body.code).toBe('cursor_expired')
    expect(after.found.map(({ number }) => number)).toEqual([found.length + 1])
  })
})

it('a step of the purge reads no more where much has expired', async () => {
  const db = openDb<Db>(STORE)
  const read: number[] = []
  for (const expired of [5000, 30_000]) {
    const { project } = await newWorld()
    await STORE.prepare(
      `INSERT INTO changes (project_id, seq, at, items)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
        SELECT ?1, 1000 + i, 1, '[{"type":"grant.created","id":"grt_x"}]' FROM n`,
    )
      .bind(project, expired)
      .run()
    await STORE.prepare('UPDATE changes SET at = 1 WHERE project_id = ?').bind(project).run()
    const before = db.meter.rows_read
    // The pass reaches the project that was made last.
    const { done } = await purgeChanges(db, { store: STORE_NUMBER, after: `${project.slice(0, -1)}` }, Date.now())
    expect(done).toBe(CHUNK_ROWS)
    read.push(db.meter.rows_read - before)
    await STORE.prepare('DELETE FROM changes WHERE project_id = ?').bind(project).run()
  }
  expect(read[1]).toBeLessThanOrEqual(1.05 * (read[0] ?? 0))
})

describe('what a reader of the feed is told', () => {
  it('needs the scope of its object: a type that is named is refused, another one is left out', async () => {
    const world = await newWorld()
    const { secret } = await mint(world.owner.token, world.project, { name: 'Narrow', scopes: ['consumers:read'] })
    const narrow = { token: secret }
    await make(world, 2)
    const { body } = await world.changes('', narrow)
    expect(body.data.map(({ type }) => type)).toEqual(['consumer.created', 'consumer.created'])
    expect(body.next).toBe((await follow(world)).position)
    const refused = await world.changes('?types=consumer.*,api_key.minted', narrow)
    expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope'])
    expect(refused.body.detail).toContain('api_keys:read')
    expect((await world.changes('?types=consumer.*', narrow)).status).toBe(200)
    // A page that leaves something out looks at more than it shows, and no other one does.
    await make(world, 3)
    await world.put('billing/features/last', { name: 'Last', type: 'boolean' })
    const scopes = { name: 'Catalog', scopes: ['catalog:read'] }
    const last = { token: (await mint(world.owner.token, world.project, scopes)).secret }
    for (const [query, by] of [
      ['&types=feature.*', undefined],
      ['', last],
    ] as const) {
      const page = await world.changes(`?limit=1${query}`, by)
      expect([query, page.body.data.map(({ type }) => type)]).toEqual([query, ['feature.created']])
    }
    const [all, some] = [countingD1(), countingD1()]
    const as = { project: world.project, token: world.owner.token }
    await call('/platform/v1/changes?limit=1', { ...as, bindings: { DB: all.DB } })
    await call('/platform/v1/changes?limit=1&types=feature.*', { ...as, bindings: { DB: some.DB } })
    expect(some.count.rows_read - all.count.rows_read).toBeGreaterThan(3)
  })

  it.each([
    ['consumer.created', 2],
    ['consumer.*', 2],
    ['consumer.created, api_key.*', 3],
    ['grant.*', 0],
  ])('can be chosen by type: %s', async (types, n) => {
    const world = await newWorld()
    await make(world, 2)
    const { body } = await world.changes(`?types=${encodeURIComponent(types)}`)
    expect(body.data).toHaveLength(n)
    expect(body.next).toBe((await follow(world)).position)
  })

  it.each(['consumer', '*', 'consumer.*,nothing.*', '', ','])(
    'is refused for a type that there is not: "%s"',
    async (types) => {
      const world = await newWorld()
      const { status, body } = await world.changes(`?types=${types}`)
      expect([status, body.errors?.[0]?.pointer]).toEqual([422, '/types'])
    },
  )

  it('is of one project', async () => {
    const world = await newWorld()
    const other = await freshKey()
    await make(world, 1)
    const { position } = await follow(world)
    const { body } = await call('/platform/v1/changes', { project: other.project, token: other.secret })
    expect(body.data.every(({ consumer_id }) => consumer_id === null)).toBe(true)
    expect((await call('/platform/v1/changes', { project: world.project, token: other.secret })).status).toBe(401)
    // A position of another project is a number, and no way to its changes.
    const { body: there } = await call(`/platform/v1/changes?after=${position}`, {
      project: other.project,
      token: other.secret,
    })
    expect(there.data ?? []).toEqual([])
  })
})

describe('a page of the feed', () => {
  it('reads few rows, however many changes there are', async () => {
    const world = await newWorld()
    const { position } = await follow(world)
    const number = Number(position.split('_').at(-1))
    // A million changes (200,000 in a short run) in rows of ten, of which one in 10,000 is of the type that is asked for.
    const rows = cases(100_000)
    await STORE.prepare(
      `INSERT INTO changes (project_id, seq, at, items)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?3)
        SELECT ?1, ?2 + i * 10, 1, json_array(${Array.from({ length: 9 }, () => `json_object('type', 'webhook_event.ignored', 'id', 'evt_x')`)},
          json_object('type', iif(i % 1000 = 0, 'grant.created', 'webhook_event.ignored'), 'id', 'grt_' || i)) FROM n`,
    )
      .bind(world.project, number, rows)
      .run()
    for (const [query, n] of [
      ['?limit=500', 500],
      ['?limit=500&types=grant.created', 0],
      ['?after=latest', 0],
    ] as const) {
      const { DB, count } = countingD1()
      const { body } = await world.changes(query, { bindings: { DB } })
      expect([query, body.data.length, body.has_more]).toEqual([query, n, query !== '?after=latest'])
      expect([count.trips, count.rows_read <= 1000]).toEqual([2, true]) // one trip for the session
    }
    const { found } = await follow(world, { types: 'grant.created' })
    expect(found.map(({ object }) => object.id)).toEqual(
      Array.from({ length: rows / 1000 }, (_, i) => `grt_${(i + 1) * 1000}`),
    )
  })
})
