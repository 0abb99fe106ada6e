import { beforeAll, describe, expect, it } from 'vitest'
import { advance, stopClock } from '../clock'
import { type Answer, countingD1, freshKey, lossyQueue, type RequestOptions, STORE } from '../harness'
import { cron, keepHouse } from '../inbox/pipeline'
import { as } from './consumers'

/* What each call costs: round trips after that of the key, and rows written, the audit row among them. */

let api: ReturnType<typeof as>
let project: string
beforeAll(async () => {
  stopClock() // once a minute, a key's use is written, which would be a trip more
  const made = await freshKey()
  project = made.project
  api = as(project, made.secret)
  await api.list() // from here on, the isolate knows the key
})

/** The trips, and the rows read and written, of a call that is expected to succeed. */
async function cost(work: (options: RequestOptions) => Promise<Answer>) {
  const { DB, count } = countingD1()
  const answer = await work({ bindings: { DB } })
  expect(answer.status, answer.text).toBeLessThan(300)
  return { trips: count.trips, written: count.rows_written, read: count.rows_read }
}
/** The trip that reads the key. */
const KEY = 1
/** The name has a row for each of its words: here one that goes and one that comes. */
const NAMED = 2
/** The row that tells the feed of a change. */
const TOLD = 1

describe('the cost of', () => {
  const all = { email: 'a@example.com', name: 'A', metadata: { a: '1', b: '2' } }

  it('an upsert: a trip; five rows if it is new, one if it changed and one for each word of a name that goes or comes, none if it is the same', async () => {
    const put = (fields: object) => cost((options) => api.put('u', fields, options))
    expect(await put(all)).toMatchObject({ trips: KEY + 1, written: 5 + TOLD })
    expect(await put({ ...all, metadata: { b: '2', a: '1' } })).toMatchObject({ trips: KEY + 1, written: 0 })
    expect(await put({})).toMatchObject({ trips: KEY + 1, written: 0 })
    expect(await put({ ...all, name: 'B' })).toMatchObject({ trips: KEY + 1, written: 1 + NAMED + TOLD })
    expect(await put({ name: 'B', metadata: {} })).toMatchObject({ trips: KEY + 1, written: 1 + TOLD })
    expect(await put({ name: 'B C D' })).toMatchObject({ trips: KEY + 1, written: 1 + 1 + 3 + TOLD })
    expect(await put({ name: 'B' })).toMatchObject({ trips: KEY + 1, written: 1 + 3 + 1 + TOLD })
    // The index by email has one entry less and one more.
    expect((await put({ email: 'b@example.com' })).written).toBeLessThanOrEqual(3 + TOLD)
  })

  it('a create: a trip, and two rows for each of the consumer and its id', async () => {
    expect(await cost((o) => api.create({ external_id: 'c', email: 'c@example.com' }, o))).toMatchObject({
      trips: KEY + 1,
      written: 4 + TOLD,
    })
  })

  it('a change: two trips, and a row; one more for each word of a name that goes or comes, two for an external id', async () => {
    expect(await cost((o) => api.patch('ext:u', { name: 'C' }, o))).toMatchObject({
      trips: KEY + 2,
      written: 1 + NAMED + TOLD,
    })
    expect(await cost((o) => api.patch('ext:u', { name: 'C' }, o))).toMatchObject({ trips: KEY + 1, written: 0 })
    expect(await cost((o) => api.patch('ext:u', { external_id: 'u2' }, o))).toMatchObject({
      trips: KEY + 2,
      written: 1 + 2 + TOLD,
    })
  })

  it.each<[string, (n: number, options: RequestOptions) => Promise<Answer>]>([
    ['changes', (n, o) => api.patch('ext:busy', { name: `N ${n}` }, o)],
    ['blocks', (n, o) => api.block('ext:busy', { reason: `reason ${n}` }, o)],
  ])('many %s of one consumer at once: each as many trips as alone, because they take turns', async (_, change) => {
    const calls = Array.from({ length: 30 }, (_, n) => n)
    await api.put('busy')
    const { DB, count } = countingD1()
    const answers = await Promise.all(calls.map((n) => change(n, { bindings: { DB } })))
    expect(answers.map(({ status }) => status)).toEqual(calls.map(() => 200))
    expect(count.trips).toBe(calls.length * (KEY + 2))
  })

  it('blocking: two trips, a row with its index and the audit row', async () => {
    expect(await cost((o) => api.block('ext:u', {}, o))).toMatchObject({ trips: KEY + 2, written: 3 + TOLD })
    expect(await cost((o) => api.block('ext:u', {}, o))).toMatchObject({ trips: KEY + 1, written: 0 })
  })

  it('merging: two trips and five rows, and two for each external id, pin and consumer merged earlier', async () => {
    await api.put('into')
    for (const [name, moving, prepare] of [
      ['plain', 1, async () => {}],
      ['ids', 2, () => api.patch('ext:ids', { external_id: 'ids2' })],
      ['pin', 2, () => api.pin('cus_merged', 'ext:pin')],
      ['again', 3, async () => api.merge((await api.put('before')).body.id, 'ext:again')],
    ] as const) {
      await api.put(name)
      await prepare()
      const { trips, written } = await cost((o) => api.merge(`ext:${name}`, 'ext:into', o))
      // A pin that moves is a change of its own.
      const told = name === 'pin' ? 2 * TOLD : TOLD
      expect([name, trips, written]).toEqual([name, KEY + 2, 5 + 2 * moving + told])
    }
  })

  it('a pin: two trips, a row with its index and the audit row; to nobody, one trip', async () => {
    const pin = (consumer: string | null) => cost((o) => api.pin('cus_cost', consumer, 'stripe', o))
    // That it was pinned, and whose it is now.
    expect(await pin('ext:c')).toMatchObject({ trips: KEY + 2, written: 3 + 2 * TOLD })
    expect(await pin('ext:c')).toMatchObject({ trips: KEY + 2, written: 0 })
    expect((await pin(null)).trips).toBe(KEY + 1)
    expect((await cost((o) => api.unpin('cus_cost', 'stripe', o))).trips).toBe(KEY + 1)
  })

  it('an erasure: two trips, and one to the directory; rows for the consumer, each word of its name, each external id, each customer, the erasure and the audit', async () => {
    const { body } = await api.put('gone', all)
    expect(await cost((o) => api.erasure(body.id, o).then((answer) => ({ ...answer, status: 200 })))).toMatchObject({
      trips: KEY,
    })
    const bare = await cost((o) => api.erase('ext:gone', o))
    expect(bare).toMatchObject({ trips: KEY + 2 + 1, written: 2 + 1 + 1 + 2 + 1 + TOLD })
    expect(await cost((o) => api.erase(body.id, o))).toMatchObject({ trips: KEY + 1, written: 0 })
    expect(await cost((o) => api.erasure(body.id, o))).toMatchObject({ trips: KEY, written: 0 })
    await api.put('moved', all)
    const moved = `INSERT INTO customer_moves (project_id, ref, moved_at, customer, vendor)
      SELECT ?, 'moved', 1, value, 'stripe' FROM json_each('["cus_x", "cus_y", "cus_z"]')`
    await STORE.prepare(moved).bind(project).run()
    expect((await cost((o) => api.erase('ext:moved', o))).written - bare.written).toBe(3)
    const linked = await api.put('linked', all)
    for (let n = 0; n < 10; n++) await api.pin(`cus_gone_${n}`, linked.body.id)
    expect((await cost((o) => api.erase(linked.body.id, o))).written - bare.written).toBeLessThanOrEqual(
      2 + 10 * (4 + TOLD),
    )
  })

  it('an erasure in the cron: up to five trips for each phase', async () => {
    stopClock()
    const ran = async () => {
      const { DB, count } = countingD1()
      await cron({ DB, EVENTS: lossyQueue().EVENTS })
      return count.trips
    }
    const { id } = (await api.put('cron', all)).body
    await api.pin('cus_cron', id)
    await keepHouse()
    await ran() // after a pass, it looks for secrets to seal again
    const idle = await ran()
    await api.erase(id)
    advance(1)
    const busy = await ran()
    // Customers, objects and events; then there is nothing due, and the progress is written.
    expect(busy - idle).toBeLessThanOrEqual(3 * 5 + 2)
    expect(await ran()).toBe(idle)
  })

  it('reading one, or a list: it rides with the key', async () => {
    expect(await cost((o) => api.get('ext:u', o))).toMatchObject({ trips: KEY, written: 0 })
    expect(await cost((o) => api.list('', o))).toMatchObject({ trips: KEY, written: 0 })
    expect(await cost((o) => api.customers('?linked=false', o))).toMatchObject({ trips: KEY, written: 0 })
  })
})

it('of reading one is bounded, however many customers its external ids link', async () => {
  const links = `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
    INSERT INTO customer_links (project_id, customer, vendor, said, said_rank) SELECT ?1, ?2 || v, 'stripe', ?2, '' FROM n`
  await api.put('many')
  await api.patch('ext:many', { external_id: 'more' })
  for (const id of ['many', 'more']) await STORE.prepare(links).bind(project, id).run()
  const one = await cost((o) => api.get('ext:many', o))
  const page = await cost((o) => api.customers('?consumer=ext:many', o))
  const filtered = await cost((o) => api.customers('?consumer=ext:many&vendor=paddle', o))
  expect([one.read, page.read, filtered.read].map((n) => n < 1_500)).toEqual([true, true, true])
  const found: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await api.customers(`?consumer=ext:many&limit=100&vendor=stripe${cursor && `&cursor=${cursor}`}`)
    found.push(...body.data.map(({ id }) => id))
    cursor = found.length < 1_000 ? body.next_cursor : null
  }
  expect(found).toEqual([...found].sort())
  expect(new Set(found).size).toBe(1_000)
})
