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

it.each([
  // An entry of the indexes of those who hold a name is written when a domain gets it: one, and two for a host.
  // The key has sso:write, so the role of who minted it is read where single sign-on may be concerned.
  ['sso', 1, 1],
  ['surface', 2, 0],
] as const)('adding, checking and deleting a domain for %s', async (purpose, held, minter) => {
  const { api } = await newApi()
  await api.list() // the first use of a key is written
  const after = async (work: (options: RequestOptions) => Promise<Answer>) => {
    const { trips, written } = await cost(work)
    return [trips - KEY, written]
  }
  const name = newName()
  const added = await after((options) => api.add(name, purpose, options))
  const body = (await api.list()).body.data[0]
  const check = async () => {
    await forgetCheck(body.id)
    return after((options) => api.verify(body.id, options))
  }
  await zone(name, texts())
  const missing = await check()
  await publish(body)
  expect({
    added,
    missing,
    verified: await check(),
    again: await check(),
    deleted: await after((options) => api.remove(body.id, options)),
  }).toEqual({
    // Each change by a user or a key is counted: a row more.
    added: [1 + minter, 3 + 1 + 1],
    missing: [3, 1 + 1], // when it is checked next stays as it is
    verified: [3, 1 + 3 + held + 1 + 1],
    again: [3, 1 + 2],
    deleted: [2, 1 + 1 + 1 + 1], // and an entry of the index that its purge goes by
  })
})

it('reading: it rides with the key where both are in one database', async () => {
  const { api } = await newApi()
  const { body } = await api.add(newName())
  await api.list()
  for (const read of [api.list.bind(null, ''), api.get.bind(null, body.id)]) {
    expect(await cost((options) => read(options))).toEqual({ trips: 1 + BESIDE, written: 0 })
  }
})
