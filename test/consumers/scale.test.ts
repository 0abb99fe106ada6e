import { beforeAll, expect, it } from 'vitest'
import { CONSUMERS, numbered } from '../../bench/consumer-rows'
import { stopClock } from '../clock'
import { countingD1, freshKey, type RequestOptions, STORE } from '../harness'
import { as } from './consumers'

/* What reads of consumers and customers cost does not grow with their number: rows read at two sizes. */

const SIZES = [1_000, 100_000]

const worlds: { project: string; secret: string }[] = []
beforeAll(async () => {
  stopClock() // once a minute, a key's use is written, which would be a trip more
  for (const size of SIZES) {
    const world = await freshKey()
    for (const rows of CONSUMERS) await STORE.prepare(numbered(rows)).bind(world.project, size).run()
    worlds.push(world)
  }
}, 120_000)

type Api = ReturnType<typeof as>

it.each<[string, number, (api: Api, options: RequestOptions) => ReturnType<Api['list']>]>([
  ['the list of consumers', 220, (api, o) => api.list('', o)],
  ['… by email', 30, (api, o) => api.list('?email=c702@example.com', o)],
  ['… active ones', 250, (api, o) => api.list('?state=active', o)],
  ['… blocked ones', 220, (api, o) => api.list('?state=blocked', o)],
  ['one consumer by its id', 30, (api, o) => api.get('csm_00000000000000000000000502', o)],
  ['one consumer by its external id', 30, (api, o) => api.get('ext:u502', o)],
  ['an upsert', 40, (api, o) => api.put('u502', { name: 'X' }, o)],
  ['a change', 40, (api, o) => api.patch('ext:u503', { name: 'X' }, o)],
  ['a merge', 80, (api, o) => api.merge('ext:u504', 'ext:u505', o)],
  ['the list of customers', 300, (api, o) => api.customers('', o)],
  ['… of a consumer', 60, (api, o) => api.customers('?consumer=ext:u502', o)],
  ['… without a consumer', 10_000, (api, o) => api.customers('?linked=false', o)],
  ['… of another vendor', 10_000, (api, o) => api.customers('?vendor=paddle', o)],
])('%s reads the same rows among 1,000 and 100,000, at most %i', async (_, most, ask) => {
  const reads: number[] = []
  for (const { project, secret } of worlds) {
    const { DB, count } = countingD1()
    const api = as(project, secret)
    const answer = await ask(api, { bindings: { DB } })
    expect(answer.status, answer.text).toBe(200)
    reads.push(count.rows_read)
  }
  const [small = 0, large = 0] = reads
  expect(Math.abs(large - small), String(reads)).toBeLessThanOrEqual(5)
  expect(large).toBeLessThanOrEqual(most)
})
