import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_GRANTS_WALKED } from '../../src/catalog/limits'
import { insertConsumer } from '../consumers/rows'
import { insertEarlierGrants, insertGrants } from '../entitlements/rows'
import { type Answer, call, countingD1, freshKey, type RequestOptions } from '../harness'
import { rows } from '../inbox/pipeline'
import { catalogAs } from './catalog'

let api: ReturnType<typeof catalogAs>
let project: string
let secret: string
beforeEach(async () => {
  const made = await freshKey()
  project = made.project
  secret = made.secret
  api = catalogAs(project, made.secret)
})

const SEATS = { name: 'Seats', type: 'quantity' }
const price = (ref: string, vendor = 'stripe') => ({ vendor, ref })
const wrong = ({ body }: Answer<unknown>) =>
  (body as { errors?: { pointer: string }[] }).errors?.map(({ pointer }) => pointer)
const codeOf = ({ status, body }: Answer<unknown>) => [status, (body as { code?: string }).code]
const ifMatch = (value: string): RequestOptions => ({ headers: { 'If-Match': value } })
const revisions = () =>
  rows<{ revision: number; document: string }>(
    'SELECT revision, document FROM plan_revisions WHERE project_id = ? ORDER BY revision',
    project,
  )

describe('a feature', () => {
  it('is created, changed, and the same again; its type cannot change', async () => {
    const made = await api.feature('seats', SEATS)
    expect([made.status, made.body]).toMatchObject([201, { key: 'seats', type: 'quantity', combine: 'max' }])
    expect((await api.feature('seats', SEATS)).status).toBe(200)
    expect((await api.feature('seats', { ...SEATS, combine: 'sum' })).body.combine).toBe('sum')
    expect((await api.feature('seats', { ...SEATS, name: 'Places' })).body).toMatchObject({
      name: 'Places',
      combine: 'sum', // what is left out stays
    })
    expect(codeOf(await api.feature('seats', { name: 'S', type: 'boolean' }))).toEqual([409, 'feature_type_fixed'])
    const entries = await rows<{ action: string }>(
      "SELECT action FROM audit_log WHERE project_id = ? AND object_id = 'seats' ORDER BY id",
      project,
    )
    const actions = entries.map(({ action }) => action).sort()
    expect(actions).toEqual(['feature.created', 'feature.updated', 'feature.updated'])
  })

  it.each([['Seats'], ['1'], ['a b'], ['x'.repeat(65)], ['ext:a']])('is not called %s', async (key) => {
    expect(codeOf(await api.feature(encodeURIComponent(key)))).toEqual([422, 'validation_failed'])
  })

  it('has a combination only if it is a quantity', async () => {
    expect(wrong(await api.feature('sso', { name: 'SSO', type: 'boolean', combine: 'sum' }))).toEqual(['/combine'])
  })

  it('is deleted once no plan has it', async () => {
    await api.feature('sso')
    const { body } = await api.plan({ key: 'pro', name: 'Pro', features: { sso: { value: true } } })
    expect(codeOf(await api.dropFeature('sso'))).toEqual([409, 'feature_in_use'])
    await api.change(body.id, { features: {} })
    expect((await api.dropFeature('sso')).status).toBe(204)
    expect((await api.dropFeature('sso')).status).toBe(404)
    expect((await api.features()).body.data).toEqual([])
  })
})

describe('a feature in use stays, and goes once it is used no more', () => {
  const settings = (json: object) =>
    call(`/platform/v1/projects/${project}`, { method: 'PATCH', project, token: secret, json: { settings: json } })
  const changed = (sql: string) => rows(sql, project)
  const uses: Record<string, { use: () => Promise<unknown>; end: () => Promise<unknown> }> = {
    'by a plan': {
      use: () => api.plan({ key: 'pro', name: 'Pro', features: { seats: { value: 1 } } }),
      end: () => changed("UPDATE plans SET features = '{}' WHERE project_id = ?"),
    },
    'by an archived plan': {
      use: () => api.plan({ key: 'pro', name: 'Pro', state: 'archived', features: { seats: { value: 1 } } }),
      end: () => changed("UPDATE plans SET features = '{}' WHERE project_id = ?"),
    },
    'by a grant': {
      use: async () => {
        await insertGrants(project, await insertConsumer(project, 'ada'))
        await changed("UPDATE grants SET feature = 'seats' WHERE project_id = ?")
      },
      end: () => changed('UPDATE grants SET revoked_at = 1 WHERE project_id = ?'),
    },
    'by a grant that has not begun': {
      use: async () => {
        await insertGrants(project, await insertConsumer(project, 'ada'))
        await changed("UPDATE grants SET feature = 'seats', starts_at = 9000000000000 WHERE project_id = ?")
      },
      end: () => changed('UPDATE grants SET expires_at = 1 WHERE project_id = ?'),
    },
    'by the setting of devices': {
      use: () => settings({ devices_feature: 'seats' }),
      end: () => settings({ devices_feature: null }),
    },
  }

  it.each(Object.entries(uses))('%s', async (_, { use, end }) => {
    await api.feature('seats', SEATS)
    await use()
    expect(codeOf(await api.dropFeature('seats'))).toEqual([409, 'feature_in_use'])
    expect((await api.features()).body.data).toHaveLength(1)
    await end()
    expect((await api.dropFeature('seats')).status).toBe(204)
  })
})

it('a feature whose grants have ended is deleted', async () => {
  await api.feature('sso')
  const consumer = await insertConsumer(project, 'ada')
  const grant = await insertGrants(project, consumer)
  const expiring = await insertGrants(project, consumer)
  const set = (column: string, id: string) => rows(`UPDATE grants SET ${column} = 1 WHERE id = ?`, id)
  expect(codeOf(await api.dropFeature('sso'))).toEqual([409, 'feature_in_use'])
  await set('revoked_at', grant)
  expect(codeOf(await api.dropFeature('sso'))).toEqual([409, 'feature_in_use'])
  await set('expires_at', expiring)
  expect((await api.dropFeature('sso')).status).toBe(204)
})

it('a feature is deleted however many grants of another one there are, and stays for a single one behind them', async () => {
  await api.feature('sso')
  await api.feature('seats', SEATS)
  const consumer = await insertConsumer(project, 'ada')
  await insertEarlierGrants(project, consumer, MAX_GRANTS_WALKED)
  const last = await insertGrants(project, consumer)
  expect(codeOf(await api.dropFeature('sso'))).toEqual([409, 'feature_in_use'])
  await rows('UPDATE grants SET revoked_at = 1 WHERE id = ?', last)
  expect((await api.dropFeature('sso')).status).toBe(204)
  expect(codeOf(await api.dropFeature('seats'))).toEqual([409, 'feature_in_use'])
})

describe('a plan', () => {
  beforeEach(async () => {
    await Promise.all([
      api.feature('sso'),
      api.feature('seats', SEATS),
      api.feature('limits', { name: 'L', type: 'config' }),
    ])
  })
  const PRO = {
    key: 'pro',
    name: 'Pro',
    rank: 10,
    features: { sso: { value: true }, seats: { value: 5, per_seat: true }, limits: { value: { rows: [1, null] } } },
    prices: [price('price_b'), price('price_a'), price('pro_1', 'paddle')],
  }

  it('is created with its features and prices, read and listed', async () => {
    const made = await api.plan(PRO)
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      ...PRO,
      state: 'active',
      features: { limits: { value: { rows: [1, null] }, per_seat: false }, seats: { value: 5, per_seat: true } },
      prices: [price('pro_1', 'paddle'), price('price_a'), price('price_b')],
      revision: 1,
    })
    expect(made.headers.get('ETag')).toBe('"1"')
    const free = await api.plan({ key: 'free', name: 'Free' })
    expect((await api.get(made.body.id)).body).toEqual(made.body)
    expect((await api.plans()).body.data).toEqual(expect.arrayContaining([free.body, made.body]))
  })

  it.each<[string, object, string]>([
    ['an unknown feature', { nope: { value: true } }, '/features/nope'],
    ['false for a boolean', { sso: { value: false } }, '/features/sso/value'],
    ['a boolean for a quantity', { seats: { value: true } }, '/features/seats/value'],
    ['less than nothing', { seats: { value: -1 } }, '/features/seats/value'],
    ['half a seat', { seats: { value: 0.5 } }, '/features/seats/value'],
    ['more than a number can say', { seats: { value: 2 ** 53 } }, '/features/seats/value'],
    ['another word than unlimited', { seats: { value: 'many' } }, '/features/seats/value'],
    ['null as a config', { limits: { value: null } }, '/features/limits/value'],
    ['a config of 2 KB and more', { limits: { value: 'x'.repeat(2047) } }, '/features/limits/value'],
    ['a boolean by seat', { sso: { value: true, per_seat: true } }, '/features/sso/per_seat'],
  ])('does not take %s', async (_, features, pointer) => {
    const made = await api.plan({ key: 'free', name: 'Free' })
    for (const answer of [
      await api.plan({ key: 'other', name: 'Other', features }),
      await api.change(made.body.id, { features, name: 'New' }),
    ]) {
      expect(codeOf(answer)).toEqual([422, 'validation_failed'])
      expect(wrong(answer)).toEqual([pointer])
    }
    expect((await api.plans()).body.data).toEqual([made.body])
    expect(await revisions()).toEqual([])
  })

  it('takes the ends of what a value can be', async () => {
    const features = { seats: { value: Number.MAX_SAFE_INTEGER }, limits: { value: 'x'.repeat(2046) } }
    const made = await api.plan({ key: 'most', name: 'Most', features })
    expect(made.body.features).toMatchObject(features)
    for (const value of [0, 'unlimited']) {
      expect((await api.change(made.body.id, { features: { seats: { value } } })).body.features.seats?.value).toBe(
        value,
      )
    }
  })

  it('changes, and its last state is kept; the same values write nothing', async () => {
    const { body } = await api.plan(PRO)
    const fields = {
      name: 'Pro 2',
      rank: 11,
      state: 'archived',
      key: 'pro-2',
      features: {},
      prices: [price('price_c')],
    }
    const changed = await api.change(body.id, fields)
    expect(changed.body).toMatchObject({ ...fields, revision: 2 })
    expect((await api.change(body.id, fields)).body).toEqual(changed.body)
    const [kept, ...others] = await revisions()
    expect(others).toEqual([])
    const document = JSON.parse(kept?.document as string)
    expect(document).toMatchObject({ key: 'pro', name: 'Pro', rank: 10, state: 'active', features: body.features })
    const prices = body.prices.map(({ vendor, ref }: { vendor: string; ref: string }) => ({ vendor, ref }))
    expect(document.prices).toEqual(expect.arrayContaining(prices))
    // A price alone is a change as well.
    expect((await api.change(body.id, { prices: [] })).body).toMatchObject({ prices: [], revision: 3 })
    expect((await api.change(body.id, { prices: [price('price_c')] })).body.revision).toBe(4)
    const audited = await rows("SELECT 1 FROM audit_log WHERE project_id = ? AND action = 'plan.updated'", project)
    expect(audited).toHaveLength(3)
  })

  it.each([
    ['by itself', (id: string, name: string) => api.change(id, { name })],
    [
      'with the whole catalog',
      (_: string, name: string) => api.put({ features: {}, plans: { old: { name, prices: [] } } }),
    ],
  ])('keeps its last 200 states, where it is changed %s', async (_, change) => {
    const { id } = (await api.plan({ key: 'old', name: 'Old' })).body
    await rows('UPDATE plans SET revision = 201 WHERE id = ?', id)
    await rows(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 200)
       INSERT INTO plan_revisions (project_id, plan_id, revision, document, until) SELECT ?, ?, v, '{}', v FROM n`,
      project,
      id,
    )
    // The second time, nothing changes.
    for (const _ of [1, 2]) {
      expect((await change(id, 'Once more')).status).toBe(200)
      expect((await api.get(id)).body.revision).toBe(202)
      const kept = (await revisions()).map(({ revision }) => revision)
      expect([kept.length, kept[0], kept.at(-1)]).toEqual([200, 2, 201])
    }
  })

  it('has a key and prices that no other plan has; nothing of a refused change is written', async () => {
    const [pro, free] = [await api.plan(PRO), await api.plan({ key: 'free', name: 'Free' })]
    expect(codeOf(await api.plan({ key: 'pro', name: 'P' }))).toEqual([409, 'plan_key_taken'])
    expect(codeOf(await api.change(free.body.id, { key: 'pro', name: 'P' }))).toEqual([409, 'plan_key_taken'])
    const taken = await api.change(free.body.id, { name: 'P', prices: [price('price_new'), price('price_a')] })
    expect(codeOf(taken)).toEqual([409, 'price_mapped'])
    expect(taken.text).toContain('price_a of stripe is mapped to the plan pro')
    expect(codeOf(await api.plan({ key: 'x', name: 'X', prices: [price('price_a')] }))).toEqual([409, 'price_mapped'])
    expect((await api.get(free.body.id)).body).toEqual(free.body)
    expect(await revisions()).toEqual([])
    // The same id at another vendor is another price.
    expect((await api.change(free.body.id, { prices: [price('price_a', 'paddle')] })).status).toBe(200)
    expect((await api.get(pro.body.id)).body).toEqual(pro.body)
    // What one plan gives up, another can take.
    await api.change(pro.body.id, { prices: [] })
    expect((await api.change(free.body.id, { prices: [price('price_a')] })).status).toBe(200)
    expect(wrong(await api.change(free.body.id, { prices: [price('p'), price('p')] }))).toEqual(['/prices'])
  })

  it('changes only at the revision that If-Match names', async () => {
    const { body } = await api.plan(PRO)
    const stale = ifMatch('"7"')
    expect((await api.change(body.id, { name: 'A' }, stale)).status).toBe(412)
    expect((await api.change(body.id, { name: body.name }, stale)).status).toBe(412) // though nothing would change
    expect((await api.change(body.id, { name: 'A' }, ifMatch('W/"1"'))).status).toBe(412)
    expect((await api.get(body.id)).body).toEqual(body)
    expect((await api.change(body.id, { name: 'A' }, ifMatch('"9", "1"'))).headers.get('ETag')).toBe('"2"')
    expect((await api.change(body.id, { name: 'B' }, ifMatch('*'))).status).toBe(200)
    expect((await api.change('pln_none', { name: 'B' }, ifMatch('"1"'))).status).toBe(404)
    expect((await api.change('pln_none', { name: 'B', prices: [price('price_x')] })).status).toBe(404)
    expect(await rows("SELECT 1 FROM plan_refs WHERE project_id = ? AND ref = 'price_x'", project)).toEqual([])
  })

  it('is changed by one of two calls with one ETag, and by both without; a price goes to one of two plans', async () => {
    const { body } = await api.plan(PRO)
    const both = await Promise.all(['A', 'B'].map((name) => api.change(body.id, { name }, ifMatch('"1"'))))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    const free = await Promise.all([{ rank: 1 }, { name: 'C' }].map((fields) => api.change(body.id, fields)))
    expect(free.map(({ status }) => status)).toEqual([200, 200])
    expect((await api.get(body.id)).body).toMatchObject({ rank: 1, name: 'C', revision: 4 })
    const plans = await Promise.all(['x', 'y'].map((key) => api.plan({ key, name: key, prices: [price('price_new')] })))
    expect(plans.map(({ status }) => status).sort()).toEqual([201, 409])
  })

  it('costs one trip, and two rows, one for each price that moves and one each for the audit log and the feed', async () => {
    await api.plans() // from here on, the isolate knows the key
    const cost = async (work: (options: RequestOptions) => Promise<Answer<unknown>>) => {
      const { DB, count } = countingD1()
      const answer = await work({ bindings: { DB } })
      expect(answer.status, answer.text).toBeLessThan(300)
      return [count.trips, count.rows_written]
    }
    const KEY = 1
    /** Until a signing secret has shown that the encryption key is the right one: there is none in this store. */
    const PROOF = 1
    let id = ''
    // The plan and its index by key, three prices, the audit row, the row of the feed; the key of tokens, which comes with the
    // first plan, and its indexes.
    expect(
      await cost(async (o) => {
        const made = await api.plan(PRO, o)
        id = made.body.id
        return made
      }),
    ).toEqual([KEY + PROOF + 1, 2 + 3 + 2 + 3])
    expect(await cost((o) => api.plan({ key: 'second', name: 'Second' }, o))).toEqual([KEY + PROOF + 1, 2 + 2])
    expect(await cost((o) => api.change(id, { name: 'New' }, o))).toEqual([KEY + 1, 2 + 2])
    expect(await cost((o) => api.change(id, { prices: [price('price_a'), price('price_z')] }, o))).toEqual([
      KEY + 1,
      2 + 3 + 2, // two go, one comes
    ])
    expect(await cost((o) => api.change(id, { name: 'New' }, o))).toEqual([KEY + 1, 0])
    expect(await cost((o) => api.feature('new', undefined, o))).toEqual([KEY + 1, 1 + 2])
    expect(await cost((o) => api.feature('new', undefined, o))).toEqual([KEY + 1, 0])
    expect(await cost((o) => api.dropFeature('new', o))).toEqual([KEY + 1, 1 + 2])
    expect(await cost((o) => api.plans(o))).toEqual([KEY, 0])
  })
})
