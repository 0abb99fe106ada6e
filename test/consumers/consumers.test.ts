import { beforeAll, describe, expect, it } from 'vitest'
import { EMPTY } from '../../src/consumers/schema'
import { call, captureConsole, freshKey, STORE } from '../harness'
import { rows } from '../inbox/pipeline'
import { logged, told } from '../members/members'
import { as } from './consumers'
import { insertConsumer, insertMerged } from './rows'

type Api = ReturnType<typeof as>

async function newApi() {
  const { project, secret } = await freshKey()
  return { project, api: as(project, secret) }
}

describe('a consumer', () => {
  let api: Api
  beforeAll(async () => {
    api = (await newApi()).api
  })

  it('is created by a PUT with its external id; fields that a later one leaves out stay', async () => {
    const made = await api.put('u1', { email: 'Ada@Example.com', name: 'Ada', metadata: { b: '2', a: '1' } })
    expect(made.status).toBe(201)
    expect(made.body).toEqual({
      ...EMPTY,
      id: expect.stringMatching(/^csm_/),
      external_id: 'u1',
      external_ids: ['u1'],
      email: 'ada@example.com',
      name: 'Ada',
      metadata: { a: '1', b: '2' },
      state: 'active',
      blocked_reason: null,
      merged_into: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const changed = await api.put('u1', { name: 'Ada King' })
    expect([changed.status, changed.body.id, changed.body.name]).toEqual([200, made.body.id, 'Ada King'])
    expect([changed.body.email, changed.body.metadata]).toEqual(['ada@example.com', { a: '1', b: '2' }])
    const cleared = await api.put('u1', { email: null, name: null, metadata: {} })
    expect([cleared.body.email, cleared.body.name, cleared.body.metadata]).toEqual([null, null, {}])
    expect((await api.get('ext:u1')).body).toEqual({
      ...cleared.body,
      customers: [],
      devices: { active: 0, limit: 100 },
    })
    expect((await api.get(made.body.id)).body).toEqual({
      ...cleared.body,
      customers: [],
      devices: { active: 0, limit: 100 },
    })
  })

  it('changes its ETag with every change, and with nothing else', async () => {
    const tag = async (answer: ReturnType<Api['get']>) => (await answer).headers.get('ETag')
    const first = await tag(api.put('tagged', { name: 'A' }))
    expect(first).toMatch(/^"\d+"$/)
    expect(await tag(api.put('tagged', { name: 'A' }))).toBe(first)
    expect(await tag(api.get('ext:tagged'))).toBe(first)
    const seen = new Set([first])
    for (const change of [
      () => api.put('tagged', { name: 'B' }),
      () => api.put('tagged', { email: 'b@example.com' }),
      () => api.patch('ext:tagged', { name: 'C' }),
      () => api.patch('ext:tagged', { external_id: 'tagged2' }),
      () => api.block('ext:tagged'),
      () => api.unblock('ext:tagged'),
    ]) {
      seen.add(await tag(change()))
      expect(await tag(api.get('ext:tagged'))).toBe([...seen].at(-1))
    }
    expect(seen.size).toBe(7)
  })

  it('is changed by a PATCH, only at the revision in If-Match', async () => {
    const { body, headers } = await api.put('p1')
    const tag = headers.get('ETag') ?? ''
    const patch = (name: string, match: string) => api.patch(body.id, { name }, { headers: { 'If-Match': match } })
    expect((await patch('one', tag)).body.name).toBe('one')
    expect(told(await patch('two', tag))).toEqual([412, 'precondition_failed'])
    expect(told(await patch('two', `W/${tag}`))).toEqual([412, 'precondition_failed'])
    expect(told(await patch('two', 'nonsense'))).toEqual([412, 'precondition_failed'])
    expect(told(await patch('one', tag))).toEqual([412, 'precondition_failed']) // though nothing would change
    expect((await patch('two', '*')).body.name).toBe('two')
    const now = (await api.get(body.id)).headers.get('ETag') ?? ''
    expect((await patch('three', `"0", ${now}`)).body.name).toBe('three')
    expect((await api.patch(body.id, {})).status).toBe(422)
  })

  it('gets further external ids, each of which names it', async () => {
    const { body } = await api.create({ name: 'Nobody' })
    expect([body.external_id, body.external_ids]).toEqual([null, []])
    for (const external_id of ['z', 'y', 'z', 'y']) {
      expect((await api.patch(body.id, { external_id })).status).toBe(200)
    }
    for (const name of [body.id, 'ext:z', 'ext:y']) {
      expect((await api.get(name)).body).toMatchObject({ id: body.id, external_id: 'z', external_ids: ['z', 'y'] })
    }
    expect(told(await api.create({ external_id: 'y' }))).toEqual([409, 'external_id_taken'])
    const other = await api.create({ external_id: 'x' })
    expect(told(await api.patch(other.body.id, { external_id: 'y', name: 'New' }))).toEqual([409, 'external_id_taken'])
    expect((await api.get(other.body.id)).body).toMatchObject(other.body)
  })

  it('gets no more external ids than the limit, and keeps its own', async () => {
    const { project, api } = await newApi()
    const { id } = (await api.put('a')).body
    const add = (n: number) =>
      STORE.prepare(
        `INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
          WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?3)
          SELECT ?1, 'id' || v, ?2, v, 0 FROM n`,
      )
        .bind(project, id, n)
        .run()
    await add(98)
    expect((await api.patch(id, { external_id: 'last' })).body.external_ids).toHaveLength(100)
    expect(told(await api.patch(id, { external_id: 'more', name: 'New' }))).toEqual([409, 'external_id_limit_reached'])
    expect((await api.patch(id, { external_id: 'last' })).body).toMatchObject({ name: null, external_id: 'a' })
    expect((await api.get(id)).body.external_ids).toHaveLength(100)
  })

  it.each([
    ['', 422],
    ['csm_1', 422],
    ['ext:1', 422],
    ['a b', 422],
    ['é', 422],
    ['a/b', 422],
    ['x'.repeat(201), 422],
    ['x'.repeat(200), 201],
    ['a.b_c:d@e|f+g-H9', 201],
  ])('may not have every external id: %s', async (external_id, status) => {
    expect((await api.create({ external_id })).status).toBe(status)
    if (external_id.includes('/')) return
    const path = encodeURIComponent(external_id)
    expect((await api.put(path)).status).toBe(status === 201 ? 200 : 422)
    expect((await api.patch('ext:u1', { external_id })).status).toBe(status === 201 ? 409 : 422)
    expect((await api.get(`ext:${path}`)).status).toBe(status === 201 ? 200 : 404)
    expect((await api.block(`ext:${path}`)).status).toBe(status === 201 ? 200 : 422)
  })

  it('is not found by other texts', async () => {
    for (const name of ['csm_none', 'u1', 'ext:unknown', 'csm_00000000000000000000000000']) {
      expect(told(await api.get(name))).toEqual([404, 'not_found'])
      expect(told(await api.patch(name, { name: 'x' }))).toEqual([404, 'not_found'])
      expect(told(await api.block(name))).toEqual([404, 'not_found'])
      expect(told(await api.merge(name, 'ext:u1'))).toEqual([404, 'not_found'])
      expect((await api.merge('ext:u1', name)).status).toBe(['csm_none', 'u1'].includes(name) ? 422 : 404)
    }
    expect((await api.merge('ext:u1', 'ext:a b')).body.errors[0].pointer).toBe('/into')
  })

  it('keeps within its bounds', async () => {
    const many = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, k) => [`k${k}`, 'v']))
    for (const [fields, status] of [
      [{ metadata: many(20) }, 200],
      [{ metadata: many(21) }, 422],
      [{ metadata: { ['k'.repeat(40)]: 'v'.repeat(500) } }, 200],
      [{ metadata: { ['k'.repeat(41)]: 'v' } }, 422],
      [{ metadata: { k: 'v'.repeat(501) } }, 422],
      [{ metadata: { k: 1 } }, 422],
      [{ metadata: { '': 'v' } }, 422],
      [{ metadata: null }, 422],
      [{ name: '😀'.repeat(100) }, 200],
      [{ name: '😀'.repeat(101) }, 422],
      [{ name: '' }, 422],
      [{ email: 'nobody' }, 422],
      [{ external_id: 'other' }, 422],
    ] as const) {
      expect([
        fields,
        (await api.put('bounds', fields)).status === 201 ? 200 : (await api.put('bounds', fields)).status,
      ]).toEqual([fields, status])
    }
    expect((await api.block('ext:bounds', { reason: 'r'.repeat(201) })).status).toBe(422)
  })

  it("is not another project's", async () => {
    const { api: others } = await newApi()
    const { body } = await api.put('mine')
    expect(told(await others.get(body.id))).toEqual([404, 'not_found'])
    expect(told(await others.patch(body.id, { name: 'x' }))).toEqual([404, 'not_found'])
    expect((await others.put('mine')).status).toBe(201)
    expect((await others.list()).body.data).toHaveLength(1)
  })
})

it('leaves no external id in the log', async () => {
  const { api } = await newApi()
  const lines = captureConsole()
  await api.put('lovelace@example.com')
  await api.get('ext:lovelace@example.com')
  await api.get('ext%3Alovelace%40example.com')
  await api.block('ext:lovelace@example.com')
  expect(lines).toHaveLength(4)
  expect(lines.filter((line) => line.includes('lovelace'))).toEqual([])
  expect(lines[3]).toContain('/platform/v1/consumers/ext:…/block')
})

describe('blocking', () => {
  it('takes a consumer out of use, and unblocking brings it back; repeating changes nothing', async () => {
    const { project, api } = await newApi()
    const { body } = await api.put('u1')
    expect((await api.block('ext:u1', { reason: 'chargeback' })).body).toMatchObject({
      state: 'blocked',
      blocked_reason: 'chargeback',
    })
    const again = await api.block('ext:u1')
    expect([again.status, again.body.blocked_reason]).toEqual([200, 'chargeback'])
    expect((await api.put('u1', { name: 'Still' })).body).toMatchObject({ state: 'blocked', name: 'Still' })
    expect((await api.block('ext:u1', { reason: 'fraud' })).body.blocked_reason).toBe('fraud')
    for (const _ of 'two') {
      expect((await api.unblock('ext:u1')).body).toMatchObject({ state: 'active', blocked_reason: null })
    }
    expect(await logged(project, body.id)).toEqual([
      ['consumer.blocked', { reason: 'chargeback' }],
      ['consumer.blocked', { reason: 'fraud' }],
      ['consumer.unblocked', null],
    ])
  })
})

describe('merging', () => {
  it('moves the external ids to the survivor, whose own come first, and ends the other', async () => {
    const { project, api } = await newApi()
    const a = (await api.put('a', { email: 'a@example.com' })).body
    await api.patch(a.id, { external_id: 'a2' })
    const b = (await api.put('b', { name: 'B' })).body
    const merged = await api.merge('ext:a', 'ext:b')
    expect(merged.status).toBe(200)
    expect(merged.body).toMatchObject({
      id: b.id,
      external_id: 'b',
      external_ids: ['b', 'a', 'a2'],
      name: 'B',
      email: null,
    })
    for (const name of ['ext:a', 'ext:a2', 'ext:b']) expect((await api.get(name)).body.id).toBe(b.id)
    expect((await api.put('a', { name: 'Through a' })).body).toMatchObject({ id: b.id, name: 'Through a' })
    expect(await logged(project, a.id)).toEqual([['consumer.merged', { into: b.id, external_ids: 2, customers: [] }]])
    const calls = [
      api.get(a.id),
      api.patch(a.id, { name: 'x' }),
      api.block(a.id),
      api.unblock(a.id),
      api.merge(a.id, b.id),
      api.merge(b.id, a.id),
    ]
    for (const answer of await Promise.all(calls)) {
      expect(told(answer)).toEqual([409, 'consumer_merged'])
      expect(answer.body.detail).toContain(b.id)
    }
  })

  it('points what was merged before at the last survivor', async () => {
    const { api } = await newApi()
    const [a, b, c] = (await Promise.all(['a', 'b', 'c'].map((id) => api.put(id)))).map(({ body }) => body.id) as [
      string,
      string,
      string,
    ]
    await api.merge(a, b)
    await api.merge(b, c)
    expect((await api.get(a)).body.detail).toContain(c)
    expect((await api.list('?state=merged')).body.data.map((one) => [one.id, one.merged_into]).sort()).toEqual(
      [
        [a, c],
        [b, c],
      ].sort(),
    )
    expect((await api.get('ext:a')).body.external_ids).toEqual(['c', 'b', 'a'])
  })

  it('is refused into the consumer itself, under any of its names, and beyond the bounds', async () => {
    const { project, api } = await newApi()
    const { body } = await api.put('a')
    for (const into of [body.id, 'ext:a']) {
      const refused = await api.merge('ext:a', into)
      expect([told(refused), refused.body.errors[0].pointer]).toEqual([[422, 'validation_failed'], '/into'])
    }
    await insertConsumer(project, ...Array.from({ length: 100 }, (_, n) => `full-${n}`))
    expect(told(await api.merge('ext:a', 'ext:full-0'))).toEqual([409, 'external_id_limit_reached'])
    expect((await api.get('ext:a')).body).toMatchObject(body)
    expect((await api.merge((await api.create()).body.id, 'ext:full-0')).status).toBe(200)
  })
})

describe('the list', () => {
  it('is filtered by email without case, and by state; merged consumers are in it', async () => {
    const { project, api } = await newApi()
    const made: string[] = []
    for (const email of ['one@example.com', 'one@example.com', 'two@example.com', null]) {
      made.unshift((await api.create({ email })).body.id)
    }
    const [d, c, b, a] = made as [string, string, string, string]
    await api.block(b)
    await api.merge(d, c)
    const ids = async (query: string) => (await api.list(query)).body.data.map(({ id }) => id)
    expect(await ids('')).toEqual([d, c, b, a])
    expect(await ids('?email=ONE@example.com')).toEqual([b, a])
    expect(await ids('?email=one@example.com&state=active')).toEqual([a])
    expect(await ids('?state=active')).toEqual([c, a])
    expect(await ids('?state=blocked')).toEqual([b])
    expect(await ids('?state=merged')).toEqual([d])
    expect((await api.list('?email=nobody')).status).toBe(422)
    const path = '/platform/v1/consumers?email=one@example.com&limit=1'
    const page = await api.list('?email=one@example.com&limit=1')
    expect([page.body.data.length, page.body.has_more, page.body.truncated]).toEqual([1, true, false])
    expect((await call(`${path}&cursor=${page.body.next_cursor}`, { project, token: null })).status).toBe(401)
    expect(await ids(`?email=one@example.com&limit=1&cursor=${page.body.next_cursor}`)).toEqual([a])
  })

  it('goes on where a page has looked at as many as it may', async () => {
    const { project, api } = await newApi()
    const { body } = await api.put('oldest')
    for (let n = 0; n < 6; n++) await insertMerged(project, body.id, 900)
    const first = (await api.list('?state=active')).body
    expect([first.data, first.truncated, first.has_more]).toEqual([[], true, true])
    const second = (await api.list(`?state=active&cursor=${first.next_cursor}`)).body
    expect([second.data.map(({ id }) => id), second.truncated, second.has_more]).toEqual([[body.id], false, false])
  })

  it('ends a page early where its consumers are large', async () => {
    const { project, api } = await newApi()
    const made = await insertMerged(project, (await api.put('oldest')).body.id, 20)
    const metadata = JSON.stringify({ text: 'é'.repeat(15_000) })
    await rows('UPDATE consumers SET metadata = ? WHERE project_id = ? AND merged_into IS NOT NULL', metadata, project)
    for (const filter of ['', '&state=merged']) {
      const sizes: number[] = []
      const found: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { status, body } = await api.list(`?limit=100${filter}${cursor && `&cursor=${cursor}`}`)
        expect([status, body.truncated, body.has_more]).toEqual([200, false, body.next_cursor !== null])
        sizes.push(body.data.length)
        found.push(...body.data.filter(({ merged_into }) => merged_into).map(({ id }) => id))
        cursor = body.next_cursor
      }
      expect(sizes).toEqual([9, 9, filter === '' ? 3 : 2])
      expect(found.sort()).toEqual([...made].sort())
    }
  })

  it.each([
    [256 * 1024, 1],
    [256 * 1024 - 1, 2],
  ])(
    'takes another consumer unless those before it take 256 KiB: after %i bytes, the page has %i',
    async (bytes, n) => {
      const { project, api } = await newApi()
      await insertMerged(project, (await api.put('oldest')).body.id, 2)
      // Beside its metadata, a consumer takes 400 bytes, and its list of external ids two.
      const metadata = JSON.stringify({ text: 'x'.repeat(bytes - 402 - '{"text":""}'.length) })
      await rows(
        'UPDATE consumers SET metadata = ? WHERE project_id = ? AND merged_into IS NOT NULL',
        metadata,
        project,
      )
      expect((await api.list('?state=merged')).body.data).toHaveLength(n)
    },
  )
})
