import { describe, expect, it } from 'vitest'
import { insertFeatures } from '../catalog/rows'
import { insertGrants } from '../entitlements/rows'
import { call, cases, freshKey, STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { as } from './consumers'
import { insertLink } from './rows'

/*
 * Calls that are made at once, on a real D1, in many rounds. Calls that change a consumer by its id do not wait for those that name its
 * external id, so the two race as calls in several isolates do.
 */

const ROUNDS = cases(20)

async function newApi() {
  const { project, secret } = await freshKey()
  return { project, api: as(project, secret) }
}

async function rounds(race: (round: number) => Promise<void>) {
  for (let round = 0; round < ROUNDS; round++) await race(round)
}
const sorted = (answers: Parameters<typeof told>[0][]) => answers.map(told).map(String).sort()

it('upserts of one id: one consumer, one 201', async () => {
  const { project, api } = await newApi()
  await rounds(async (round) => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => api.put(`u${round}`, { name: `name ${n}` })))
    expect(sorted(answers)).toEqual(['200,', '200,', '200,', '201,'])
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })
  expect(await rows('SELECT id FROM consumers WHERE project_id = ?', project)).toHaveLength(ROUNDS)
})

it('an upsert and a create of one id: one consumer', async () => {
  const { project, api } = await newApi()
  await rounds(async (round) => {
    const answers = await Promise.all([api.put(`u${round}`), api.create({ external_id: `u${round}` })])
    expect([
      ['200,', '201,'],
      ['201,', '409,external_id_taken'],
    ]).toContainEqual(sorted(answers))
  })
  expect(await rows('SELECT id FROM consumers WHERE project_id = ?', project)).toHaveLength(ROUNDS)
})

it('two consumers are given one external id: one gets it', async () => {
  const { api } = await newApi()
  const [a, b] = [(await api.create()).body.id, (await api.create()).body.id]
  await rounds(async (round) => {
    const json = { external_id: `u${round}`, name: `name ${round}` }
    const answers = await Promise.all([api.patch(a, json), api.patch(b, json)])
    expect(sorted(answers)).toEqual(['200,', '409,external_id_taken'])
    const names = [(await api.get(a)).body.name, (await api.get(b)).body.name]
    expect(names.filter((name) => name === json.name)).toHaveLength(1)
  })
})

it('a consumer is given many external ids at once: it has all of them, in an order without gaps', async () => {
  const { project, api } = await newApi()
  const { body } = await api.put('first')
  const ids = Array.from({ length: 12 }, (_, n) => `id-${n}`)
  const answers = await Promise.all(
    ids.map((external_id, n) => api.patch(n % 2 ? body.id : 'ext:first', { external_id })),
  )
  expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200))
  const found = await rows<{ position: number }>(
    'SELECT position FROM consumer_ids WHERE project_id = ? ORDER BY position',
    project,
  )
  expect(found.map(({ position }) => position)).toEqual(Array.from({ length: 13 }, (_, n) => n))
})

it('A is merged into B and B into A: one is, the other call is refused', async () => {
  const { project, api } = await newApi()
  await rounds(async (round) => {
    const a = (await api.put(`a${round}`)).body.id
    const b = (await api.put(`b${round}`)).body.id
    const answers = await Promise.all([api.merge(a, b), api.merge(`ext:b${round}`, `ext:a${round}`)])
    // An external id leads to the consumer that stays, which cannot be merged into itself.
    expect([
      ['200,', '409,consumer_merged'],
      ['200,', '422,validation_failed'],
    ]).toContainEqual(sorted(answers))
    const survivor = answers.find(({ status }) => status === 200)?.body
    expect([...(survivor?.external_ids ?? [])].sort()).toEqual([`a${round}`, `b${round}`])
    expect([...(await logged(project, a)), ...(await logged(project, b))]).toHaveLength(1)
  })
})

it('a ring of merges at once: one consumer is left, and every other names it', async () => {
  const { project, api } = await newApi()
  await rounds(async (round) => {
    const ids = await Promise.all([0, 1, 2].map(async (n) => (await api.put(`r${round}-${n}`)).body.id))
    const [a, b, c] = ids as [string, string, string]
    await Promise.all([api.merge(a, b), api.merge(b, c), api.merge(c, a)])
    const found = await rows<{ id: string; merged_into: string | null }>(
      'SELECT id, merged_into FROM consumers WHERE project_id = ? AND id IN (SELECT value FROM json_each(?))',
      project,
      JSON.stringify(ids),
    )
    const left = found.filter(({ merged_into }) => merged_into === null)
    expect(left.length).toBeGreaterThan(0)
    for (const { merged_into } of found) {
      if (merged_into !== null) expect(left.map(({ id }) => id)).toContain(merged_into)
    }
    for (let n = 0; n < 3; n++) expect((await api.get(`ext:r${round}-${n}`)).status).toBe(200)
  })
})

it('PATCH twice with one If-Match: one is written, the other is a 412', async () => {
  const { api } = await newApi()
  const { id } = (await api.put('u')).body
  await rounds(async (round) => {
    const headers = { 'If-Match': (await api.get('ext:u')).headers.get('ETag') ?? '' }
    const answers = await Promise.all(
      [id, 'ext:u'].map((name) => api.patch(name, { name: `${name} ${round}` }, { headers })),
    )
    expect(sorted(answers)).toEqual(['200,', '412,precondition_failed'])
  })
})

it('PATCH of different fields without If-Match: both are written', async () => {
  const { api } = await newApi()
  const { id } = (await api.put('u')).body
  await rounds(async (round) => {
    const email = `u${round}@example.com`
    const answers = await Promise.all([
      api.patch(id, { name: `n${round}` }),
      api.patch('ext:u', { email }),
      api.put('u', { metadata: { round: String(round) } }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const { body } = await api.get('ext:u')
    expect([body.name, body.email, body.metadata]).toEqual([`n${round}`, email, { round: String(round) }])
  })
})

it('blocked twice at once: one entry in the log', async () => {
  const { project, api } = await newApi()
  const { body } = await api.put('u')
  await rounds(async (round) => {
    const answers = await Promise.all([api.block(body.id), api.block('ext:u')])
    expect(answers.map((one) => [one.status, one.body.state])).toEqual([
      [200, 'blocked'],
      [200, 'blocked'],
    ])
    await api.unblock('ext:u')
    expect(await logged(project, body.id)).toHaveLength(2 * (round + 1))
  })
})

it('a customer is pinned to A while A is merged into B: the pin is B’s, or was refused', async () => {
  const { api } = await newApi()
  await rounds(async (round) => {
    const [a, b] = [(await api.put(`a${round}`)).body.id, (await api.put(`b${round}`)).body.id]
    const [pinned] = await Promise.all([api.pin(`cus_${round}`, a), api.merge(a, b)])
    expect([
      [200, null],
      [409, 'consumer_merged'],
    ]).toContainEqual(told(pinned))
    const { status, body } = await api.customer(`cus_${round}`)
    expect([status, body.consumer_id]).toEqual(pinned.status === 200 ? [200, b] : [404, undefined])
  })
})

it('A or B is granted a feature while A is merged into B: at most 100 live grants', async () => {
  const { project, secret } = await freshKey()
  const api = as(project, secret)
  await insertFeatures(project, 'sso')
  await rounds(async (round) => {
    const [a, b] = [(await api.put(`a${round}`)).body.id, (await api.put(`b${round}`)).body.id]
    await insertGrants(project, a, 50)
    await insertGrants(project, b, 50)
    const json = { consumer: round % 2 === 0 ? a : b, feature: 'sso' }
    const [merged] = await Promise.all([
      api.merge(a, b),
      call('/platform/v1/billing/grants', { method: 'POST', project, token: secret, json }),
    ])
    const left = await rows('SELECT 1 FROM grants WHERE project_id = ? AND consumer_id = ?', project, b)
    expect(left.length, String(told(merged))).toBeLessThanOrEqual(100)
  })
})

it('a customer is pinned to A or B while A is merged into B: at most 100 pins, and the log lists all that move', async () => {
  const { project, api } = await newApi()
  for (let round = 0; round < 6; round++) {
    const [a, b] = [(await api.put(`a${round}`)).body.id, (await api.put(`b${round}`)).body.id]
    const full = [...Array(50).fill(a), ...Array(round < 4 ? 50 : 49).fill(b)]
    await Promise.all(full.map((pinned, n) => insertLink(project, `cus_${round}_${n}`, { pinned })))
    const [pinned, merged] = await Promise.all([api.pin(`cus_${round}_new`, round % 2 === 0 ? a : b), api.merge(a, b)])
    const pins = await rows('SELECT customer FROM customer_links WHERE project_id = ? AND pinned = ?', project, b)
    expect(pins.length, String([told(pinned), told(merged)])).toBeLessThanOrEqual(100)
    if (merged.status !== 200) continue
    const [[, details]] = (await logged(project, a)) as [[string, { customers: unknown[] }]]
    const moved = details.customers.length
    expect(pins).toHaveLength(full.length - 50 + moved + (round % 2 === 1 && pinned.status === 200 ? 1 : 0))
  }
})

it('blocked while it is merged: the block is before the merge, or a 409', async () => {
  const { api } = await newApi()
  await rounds(async (round) => {
    const { body } = await api.put(`u${round}`)
    const into = (await api.create()).body.id
    const [merged, blocked] = await Promise.all([api.merge(`ext:u${round}`, into), api.block(body.id)])
    expect(merged?.status).toBe(200)
    expect([
      [200, null],
      [409, 'consumer_merged'],
    ]).toContainEqual(told(blocked as never))
    expect((await api.get(body.id)).body.code).toBe('consumer_merged')
    expect((await api.get(into)).body.state).toBe('active')
  })
})

describe('a consumer is erased', () => {
  /** What is left of a consumer that was erased: its row, and its rows in other tables. */
  async function expectErased(api: Awaited<ReturnType<typeof newApi>>, id: string) {
    const { body } = await api.api.get(id)
    expect(body).toMatchObject({
      state: 'erased',
      email: null,
      name: null,
      metadata: {},
      external_ids: [],
      customers: [],
    })
    expect(await rows('SELECT 1 FROM customer_links WHERE project_id = ? AND pinned = ?', api.project, id)).toEqual([])
  }
  const fields = { email: 'a@example.com', name: 'A', metadata: { a: 'b' } }
  type Api = Awaited<ReturnType<typeof newApi>>['api']

  it.each<[string, (api: Api, id: string, round: number) => ReturnType<Api['put']>]>([
    ['PATCH', (api, id, round) => api.patch(id, { ...fields, external_id: `more${round}` })],
    ['block', (api, id) => api.block(id, { reason: 'chargeback' })],
    ['pin', (api, id, round) => api.pin(`cus_${round}`, id)],
    ['merge', (api, id, round) => api.merge(`ext:other${round}`, id)],
    ['erase', (api, id) => api.erase(id)],
  ])('while there is a %s: that is erased too, or a 409', async (_, change) => {
    const world = await newApi()
    await rounds(async (round) => {
      const { id } = (await world.api.put(`u${round}`, fields)).body
      await world.api.put(`other${round}`, fields)
      const [erased, changed] = await Promise.all([world.api.erase(id), change(world.api, id, round)])
      expect(erased.status).toBe(202)
      if (changed.status >= 300) expect(told(changed)).toEqual([409, 'consumer_erased'])
      await expectErased(world, id)
    })
  })

  it('while a PUT names its external id: the PUT is erased too, or makes another consumer', async () => {
    const world = await newApi()
    await rounds(async (round) => {
      const { id } = (await world.api.put(`u${round}`, fields)).body
      const [erased, put] = await Promise.all([world.api.erase(id), world.api.put(`u${round}`, { name: 'B' })])
      expect([erased.status, put.status === 200 || put.status === 201]).toEqual([202, true])
      await expectErased(world, id)
      const found = await world.api.get(`ext:u${round}`)
      if (put.body.id === id) expect(found.status).toBe(404)
      else expect(found.body).toMatchObject({ id: put.body.id, name: 'B', email: null, metadata: {} })
    })
  })
})

it('a consumer that other calls never stop changing: the call ends with a 503', async () => {
  const { api } = await newApi()
  await api.put('u')
  // As if another call had been faster, each time.
  await STORE.prepare(
    `CREATE TRIGGER always_later BEFORE UPDATE ON consumers
    BEGIN SELECT RAISE(ABORT, 'NOT NULL constraint failed: consumers.revision'); END`,
  ).run()
  try {
    expect(told(await api.patch('ext:u', { name: 'new' }))).toEqual([503, 'overloaded'])
  } finally {
    await STORE.prepare('DROP TRIGGER always_later').run()
  }
  expect((await api.patch('ext:u', { name: 'new' })).status).toBe(200)
})
