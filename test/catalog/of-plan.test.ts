import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_BODIES_READ, MAX_SCANNED_BODIES } from '../../src/billing/limits'
import { insertObjects } from '../billing/rows'
import { stopClock } from '../clock'
import { call, countingD1, freshProject, inStore, STORE } from '../harness'
import { walk } from '../inbox/seeding'

/* The subscriptions of a plan: those with an item whose price, variant or product the plan has. */

type Item = { price?: string | null; variant?: string; product?: string }
type Of = { vendor?: string; status?: string; livemode?: boolean; customer?: string; items: Item[]; plans: string[] }

/** Each subscription, and the plans that it has. */
const SUBSCRIPTIONS: Record<string, Of> = {
  by_price: { items: [{ price: 'price_1', product: 'prod_x' }], plans: ['pro'] },
  by_variant: { items: [{ price: 'price_x', variant: 'var_1' }], plans: ['pro'] },
  by_product: { items: [{ price: 'price_x', product: 'prod_1' }], plans: ['pro'] },
  by_product_alone: { items: [{ price: null, product: 'prod_1' }], plans: ['pro'] },
  price_before_product: { items: [{ price: 'price_2', product: 'prod_1' }], plans: ['team'] },
  price_before_variant: { items: [{ price: 'price_1', variant: 'var_2' }], plans: ['pro'] },
  variant_before_product: { items: [{ price: 'price_x', variant: 'var_1', product: 'prod_2' }], plans: ['pro'] },
  two_plans: { items: [{ price: 'price_1' }, { price: 'price_2' }], plans: ['pro', 'team'] },
  one_plan_twice: { items: [{ price: 'price_x' }, { price: 'price_1' }, { product: 'prod_1' }], plans: ['pro'] },
  of_other_vendor: { vendor: 'paddle', items: [{ price: 'price_1', product: 'prod_1' }], plans: [] },
  of_both_vendors: { vendor: 'paddle', items: [{ price: 'price_2', product: 'pro_9' }], plans: ['pro'] },
  unmapped: { items: [{ price: 'price_x', variant: 'var_x', product: 'prod_x' }], plans: [] },
  without_items: { items: [], plans: [] },
  canceled: { status: 'canceled', items: [{ price: 'price_1' }], plans: ['pro'] },
  past_due: { status: 'past_due', items: [{ price: 'price_2' }], plans: ['team'] },
  in_test_mode: { livemode: false, items: [{ price: 'price_1' }], plans: ['pro'] },
  of_customer: { customer: 'cus_2', items: [{ price: 'price_2' }], plans: ['team'] },
}
const REFS: Record<string, [vendor: string, ref: string][]> = {
  pro: [
    ['stripe', 'price_1'],
    ['stripe', 'var_1'],
    ['stripe', 'prod_1'],
    ['paddle', 'pro_9'],
  ],
  team: [
    ['stripe', 'price_2'],
    ['stripe', 'var_2'],
    ['stripe', 'prod_2'],
  ],
  unsold: [],
}

/** A project with the subscriptions, and with these plans. */
async function world(refs: typeof REFS) {
  const { project, owner } = await freshProject()
  const { token } = owner
  await insertObjects(project, 'subscription', Object.keys(SUBSCRIPTIONS))
  const set = STORE.prepare(
    `UPDATE billing_objects SET vendor = ?3, status = ?4, customer = ?5, candidates = json_set(candidates, '$[0].body.status', ?4,
       '$[0].body.customer', ?5, '$[0].body.items', json(?6), '$[0].body.livemode', json(?7))
     WHERE project_id = ?1 AND vendor_id = ?2`,
  )
  await STORE.batch(
    Object.entries(SUBSCRIPTIONS).map(([id, { items, ...of }]) => {
      const { vendor = 'stripe', status = 'active', livemode = true, customer = 'cus_1' } = of
      return set.bind(project, id, vendor, status, customer, JSON.stringify(items), JSON.stringify(livemode))
    }),
  )
  const create = async (key: string) => {
    const prices = refs[key]?.map(([vendor, ref]) => ({ vendor, ref }))
    const json = { key, name: key, features: {}, prices }
    const { body } = await call('/platform/v1/billing/plans', { method: 'POST', token, project, json })
    return [key, body.id] as const
  }
  const ids: Record<string, string> = {}
  for (const key of Object.keys(refs)) ids[key] = (await create(key))[1]
  const get = (path: string, bindings: object = {}) => call(`/platform/v1/billing${path}`, { token, project, bindings })
  const listed = async (query: string, limit = 100): Promise<string[]> => {
    const pages = await walk((path) => get(path), `/subscriptions?${query}`, limit)
    return pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id))
  }
  return { project, token, ids, get, listed }
}

let here: Awaited<ReturnType<typeof world>>
let away: Awaited<ReturnType<typeof world>>
let all: string[]
beforeAll(async () => {
  stopClock() // once a minute, a key's use is written, which would be a trip more
  here = await world(REFS)
  away = await world({ other: [['stripe', 'price_x']] })
  all = await here.listed('')
})
const having = (plan: string, holds: (of: Of) => boolean = () => true) =>
  all.filter((id) => {
    const of = SUBSCRIPTIONS[id] as Of
    return of.plans.includes(plan) && holds(of)
  })

describe('the subscriptions of a plan', () => {
  it.each(Object.keys(REFS))(
    'are those with an item of it, by its id and its key, on pages of any size: %s',
    async (plan) => {
      const own = having(plan)
      expect(own.length).toBeGreaterThan(plan === 'unsold' ? -1 : 3)
      for (const limit of [1, 2, 5, 100]) {
        expect(await here.listed(`plan=${plan}`, limit)).toEqual(own)
        expect(await here.listed(`plan=${here.ids[plan]}`, limit)).toEqual(own)
      }
      expect(await here.listed(`plan=${plan}&order=asc`, 2)).toEqual(own.toReversed())
    },
  )

  it.each<[query: string, holds: (of: Of) => boolean]>([
    ['status=active', ({ status = 'active' }) => status === 'active'],
    ['status=canceled', ({ status }) => status === 'canceled'],
    ['livemode=true', ({ livemode = true }) => livemode],
    ['livemode=false', ({ livemode = true }) => !livemode],
    ['vendor=paddle', ({ vendor }) => vendor === 'paddle'],
    ['customer=cus_2', ({ customer }) => customer === 'cus_2'],
    ['consumer=ext:two', ({ customer }) => customer === 'cus_2'],
    ['status=active&livemode=true&vendor=stripe', (of) => !of.status && of.livemode !== false && !of.vendor],
    ['metadata[no]=such', () => false],
    ['updated_after=2099-01-01T00:00:00Z', () => false],
    ['overdue=false', () => true],
  ])('can be filtered further: %s', async (query, holds) => {
    const { project, token } = here
    await call('/platform/v1/consumers/ext:two', { method: 'PUT', token, project, json: {} })
    const link = { method: 'PUT', token, project, json: { consumer: 'ext:two' } }
    expect((await call('/platform/v1/billing/customers/stripe/cus_2', link)).status).toBe(200)
    for (const plan of ['pro', 'team']) {
      expect([plan, await here.listed(`plan=${plan}&${query}`, 2)]).toEqual([plan, having(plan, holds)])
    }
  })

  it('are those of the project alone, and none of an unknown plan', async () => {
    const items = Object.entries(SUBSCRIPTIONS).filter(([, { items }]) =>
      items.some(({ price }) => price === 'price_x'),
    )
    expect((await away.listed('plan=other')).sort()).toEqual(
      items
        .map(([id]) => id)
        .filter((id) => id !== 'none')
        .sort(),
    )
    const empty = { data: [], has_more: false, next_cursor: null, truncated: false }
    for (const plan of ['nothing', 'pln_00000000000000000000000000', 'other', away.ids.other]) {
      const { status, body } = await here.get(`/subscriptions?plan=${plan}`)
      expect([plan, status, body]).toEqual([plan, 200, empty])
    }
  })

  it('are those of the plan with an id, though the key of another plan is the same text', async () => {
    const { project, token, ids, get } = away
    const json = { key: ids.other, name: 'Twin', features: {}, prices: [{ vendor: 'stripe', ref: 'price_1' }] }
    const { status } = await call('/platform/v1/billing/plans', { method: 'POST', token, project, json })
    expect(status).toBe(201)
    expect((await get(`/subscriptions?plan=${ids.other}`)).body).toEqual((await get('/subscriptions?plan=other')).body)
  })

  it('follow a change of the plan at once', async () => {
    const { project, token, ids } = here
    const patch = (prices: object[]) =>
      call(`/platform/v1/billing/plans/${ids.unsold}`, { method: 'PATCH', token, project, json: { prices } })
    expect((await patch([{ vendor: 'stripe', ref: 'prod_x' }])).status).toBe(200)
    expect(await here.listed('plan=unsold')).toEqual(['unmapped'])
    expect((await patch([])).status).toBe(200)
    expect(await here.listed('plan=unsold')).toEqual([])
  })

  it('are asked for by a name that a plan can have, and their cursor belongs to it', async () => {
    for (const plan of ['', 'Pro', 'a%20b', 'p'.repeat(65)]) {
      const { status, body } = await here.get(`/subscriptions?plan=${plan}`)
      expect([plan, status, body.code, body.errors?.[0]?.pointer]).toEqual([plan, 422, 'validation_failed', '/plan'])
    }
    const { body } = await here.get('/subscriptions?plan=pro&limit=2')
    for (const other of ['', 'plan=team&']) {
      const answer = await here.get(`/subscriptions?${other}limit=2&cursor=${body.next_cursor}`)
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_cursor'])
    }
    for (const list of ['invoices', 'payment-methods', 'purchases']) {
      const { status, body } = await here.get(`/${list}?plan=pro`)
      expect([status, body.errors?.[0]?.code]).toEqual([422, 'unknown_field'])
    }
  })
})

it('a page goes through as many subscriptions as for any filter on what they contain, and reads two rows more for each item', async () => {
  const { project, listed, get } = await world(REFS)
  const many = Array.from({ length: 2 * MAX_SCANNED_BODIES }, (_, n) => `z${String(n).padStart(4, '0')}`)
  await insertObjects(project, 'subscription', many)
  const ITEMS = 5
  const items = JSON.stringify(Array(ITEMS).fill({ price: 'price_x', variant: 'var_x', product: 'prod_2' }))
  await STORE.prepare(
    `UPDATE billing_objects SET candidates = json_set(candidates, '$[0].body.items', json(?2)) WHERE project_id = ?1 AND vendor_id >= 'z'`,
  )
    .bind(project, items)
    .run()
  const { DB, count } = countingD1()
  const { body } = await get('/subscriptions?plan=pro', inStore(DB))
  expect(body).toMatchObject({ data: [], truncated: true, has_more: true })
  expect(count.trips).toBe(2) // the session, then the list
  expect(count.rows_read).toBeLessThanOrEqual(MAX_BODIES_READ + 2 * ITEMS * MAX_SCANNED_BODIES)
  expect(await listed('plan=pro')).toEqual(having('pro'))
})
