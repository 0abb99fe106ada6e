import { expect, it } from 'vitest'
import { type Answer, BESIDE, countingD1, type RequestOptions } from '../harness'
import { forgetCheck, newApi, newName, publish, texts, zone } from './domains'

/* What each call costs: round trips after that of the key, and rows written, the audit row among them. */

async function cost(work: (options: RequestOptions) => Promise<Answer>) {
  const { DB, count } = countingD1()
  const answer = await work({ bindings: { DB } })
  expect(answer.status, answer.text).toBeLessThan(300)
  return { trips: count.trips, written: count.rows_written }
}
const KEY = 1

it('adding: one trip, four rows; deleting: one trip', async () => {
  const { api } = await newApi()
  await api.list() // the first use of a key is written
  expect(await cost((options) => api.add(newName(), 'surface', options))).toEqual({ trips: KEY + 1, written: 4 })
  const { body } = await api.add(newName(), 'surface')
  expect((await cost((options) => api.remove(body.id, options))).trips).toBe(KEY + 1)
})

it('checking: two trips; an audit row only where the state changes', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  const check = async () => {
    await forgetCheck(body.id)
    return cost((options) => api.verify(body.id, options))
  }
  await zone(body.hostname, texts())
  expect(await check()).toMatchObject({ trips: KEY + 2, written: expect.toSatisfy((n: number) => n <= 4) })
  await publish(body)
  expect(await check()).toMatchObject({ trips: KEY + 2, written: expect.toSatisfy((n: number) => n <= 9) })
  expect(await check()).toMatchObject({ trips: KEY + 2, written: expect.toSatisfy((n: number) => n <= 6) })
})

it('reading: it rides with the key where both are in one database', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await api.list()
  for (const read of [api.list.bind(null, ''), api.get.bind(null, body.id)]) {
    expect(await cost((options) => read(options))).toEqual({ trips: 1 + BESIDE, written: 0 })
  }
})
