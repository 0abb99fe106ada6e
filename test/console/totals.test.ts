import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_CUSTOMERS_COUNTED } from '../../src/consumers/limits'
import { insertObjects } from '../billing/rows'
import { insertConsumer, insertLink } from '../consumers/rows'
import { call, countingD1, freshProject, inStore, STORE } from '../harness'
import { visit } from './visit'

/** More than a page of a list, and more than are counted. */
const SOME = 60
const MANY = 1_001

let project: string
let token: string
const numbered = (n: number, name: string) => Array.from({ length: n }, (_, i) => `${name}_${i}`)
const set = (kind: string, change: string, where: string) =>
  STORE.prepare(`UPDATE billing_objects SET ${change} WHERE project_id = ? AND kind = '${kind}' AND ${where}`)
    .bind(project)
    .run()
const look = (path: string, bindings: object = {}) =>
  visit(`/console/p/${project}/platform/${path}`, token, { bindings })
/** What a page says about how many rows its list has; null if nothing. */
const totalOf = async (path: string) => {
  const { status, text } = await look(path)
  expect(status).toBe(200)
  return /<p class="quiet total">([^<]+)<\/p>/.exec(text)?.[1] ?? null
}
const nextOf = async (path: string) =>
  /href="\?([^"]+)" rel="next"/.exec((await look(path)).text)?.[1]?.replaceAll('&amp;', '&')

beforeAll(async () => {
  const made = await freshProject()
  project = made.project
  token = made.owner.token
  await insertObjects(project, 'subscription', numbered(SOME, 'sub'))
  await insertObjects(project, 'payment_method', ['pm_1'])
  await insertObjects(project, 'purchase', numbered(SOME, 'cs'))
  await insertObjects(project, 'invoice', numbered(MANY, 'in'))
  const odd = "CAST(substr(vendor_id, instr(vendor_id, '_') + 1) AS INTEGER) % 2 = 1"
  await set('subscription', "status = 'past_due'", "vendor_id IN ('sub_1', 'sub_2', 'sub_3')")
  await set('subscription', "status = 'deleted'", "vendor_id = 'sub_4'")
  await set('subscription', "candidates = json_set(candidates, '$[0].body.livemode', json('false'))", odd)
  await set('purchase', "candidates = json_remove(candidates, '$[0].body.status')", "vendor_id = 'cs_1'")
  await set('invoice', "status = 'paid'", "vendor_id = 'in_1'")
})

describe('a list of billing objects says how many there are', () => {
  it.each([
    ['all of them, beyond its first page', 'subscriptions', '59 subscriptions'],
    ['as many as one page has', 'payment-methods', '1 payment method'],
    ['those that are shown', 'purchases', '59 purchases'],
    ['up to a bound', 'invoices', 'More than 1,000 invoices'],
    ['with a status', 'subscriptions?status=past_due', '3 subscriptions'],
    ['with a status, of many', 'invoices?status=paid', '1 invoice'],
    ['of many but one', 'invoices?status=open', '1,000 invoices'],
    ['in test mode', 'subscriptions?livemode=false', '30 subscriptions'],
    ['in live mode', 'subscriptions?livemode=true', '29 subscriptions'],
    ['of one customer', 'subscriptions?customer=cus_1', '59 subscriptions'],
    ['of one customer, with a status', 'subscriptions?customer=cus_1&status=active', '56 subscriptions'],
    ['since a time', 'subscriptions?updated_after=2023-01-01T00:00:00Z', '59 subscriptions'],
    // Only what the objects themselves contain would say it, or there are too many.
    ['since it was created', 'subscriptions?created_after=2023-01-01T00:00:00Z', null],
    ['that are overdue', 'invoices?overdue=true', null],
    ['purchases of one customer', 'purchases?customer=cus_1', null],
    ['of one customer with too many', 'invoices?customer=cus_1', null],
    ['none', 'subscriptions?status=paused', null],
  ])('%s', async (_, path, said) => {
    expect(await totalOf(`billing/${path}`)).toBe(said)
  })

  it('of one consumer', async () => {
    const at = `/platform/v1/consumers/ext:ada`
    await call(at, { method: 'PUT', token, project, json: {} })
    const link = `/platform/v1/billing/customers/stripe/cus_1`
    const { status } = await call(link, { method: 'PUT', token, project, json: { consumer: 'ext:ada' } })
    expect(status).toBe(200)
    expect(await totalOf('billing/subscriptions?consumer=ext:ada')).toBe('59 subscriptions')
  })

  it('on its first page only, in the same trip', async () => {
    const next = await nextOf('billing/subscriptions')
    expect(await totalOf(`billing/subscriptions?${next}`)).toBeNull()
    const costOf = async (path: string) => {
      const { DB, count } = countingD1()
      await look(path, inStore(DB))
      return count
    }
    const [first, second] = [await costOf('billing/subscriptions'), await costOf(`billing/subscriptions?${next}`)]
    expect([first.trips, first.statements]).toEqual([second.trips, second.statements + 1])
  })

  it('reading an index of the project only', async () => {
    const { project: other } = await freshProject()
    const columns = 'kind, vendor, customer, subscription, status, version, candidates'
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ${10 * MANY})
       INSERT INTO billing_objects (project_id, vendor_id, ${columns})
       SELECT ?1, 'of_other_' || n.v, ${columns} FROM billing_objects, n WHERE project_id = ?2 AND vendor_id = 'sub_1'`,
    )
      .bind(other, project)
      .run()
    for (const filter of [
      '',
      '?status=active',
      '?livemode=true',
      '?livemode=false',
      '?customer=cus_1',
      '?consumer=ext:ada',
    ]) {
      const { DB, count } = countingD1()
      await look(`billing/subscriptions${filter}`, inStore(DB))
      expect([filter, count.rows_read < MANY], String(count.rows_read)).toEqual([filter, true])
    }
  })
})

describe('the list of consumers says how many there are', () => {
  beforeAll(async () => {
    const columns = 'project_id, metadata, revision, created_at, updated_at'
    const add = (n: number, name: string, state: string) =>
      STORE.prepare(
        `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?1)
         INSERT INTO consumers (${columns}, id, state) SELECT ?2, '{}', 1, 1, 1, 'csm_${name}' || v, '${state}' FROM n`,
      )
        .bind(n, project)
        .run()
    await add(SOME, 'active', 'active')
    await add(3, 'blocked', 'blocked')
  })

  it.each([
    ['all', 'consumers', '64 consumers'],
    ['active ones', 'consumers?state=active', '61 consumers'],
    ['blocked ones', 'consumers?state=blocked', '3 consumers'],
    ['none', 'consumers?state=erased', null],
  ])('%s', async (_, path, said) => {
    expect(await totalOf(path)).toBe(said)
  })

  it('on its first page only', async () => {
    expect(await totalOf(`consumers?${await nextOf('consumers')}`)).toBeNull()
  })
})

describe('the list of unlinked customers says how many there are', () => {
  let own: Awaited<ReturnType<typeof freshProject>>
  const total = async (query = '') => {
    const { text } = await visit(`/console/p/${own.project}/platform/consumers/unlinked${query}`, own.owner.token)
    return /<p class="quiet total">([^<]+)<\/p>/.exec(text)?.[1] ?? null
  }
  const add = (n: number, name: string, pinned?: string) =>
    Promise.all(numbered(n, name).map((id) => insertLink(own.project, id, pinned === undefined ? {} : { pinned })))
  beforeAll(async () => {
    own = await freshProject()
    await add(40, 'waits')
    await add(35, 'settled', '')
  })

  it('of each kind, up to a number of customers', async () => {
    expect([await total(), await total('?settled=true')]).toEqual(['40 customers', '35 customers'])
    await add(MAX_CUSTOMERS_COUNTED, 'more')
    expect(await total()).toBeNull()
  })
})

describe('the list of changes says how many there are', () => {
  it('of all types, but not of some', async () => {
    const own = await freshProject()
    for (const name of numbered(SOME, 'user')) await insertConsumer(own.project, name)
    const newest = await STORE.prepare('SELECT max(seq) AS seq FROM changes WHERE project_id = ?')
      .bind(own.project)
      .first<{ seq: number }>()
    const open = async (query: string) => {
      const { text } = await visit(`/console/p/${own.project}/platform/changes${query}`, own.owner.token)
      return {
        total: /<p class="quiet total">([^<]+)<\/p>/.exec(text)?.[1] ?? null,
        next: /href="(\?[^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '',
      }
    }
    const { total, next } = await open('?types=all')
    expect([(newest?.seq ?? 0) > 50, total]).toEqual([true, `${newest?.seq} changes`])
    expect((await open(next)).total).toBeNull()
    expect((await open('?types=consumer.*')).total).toBeNull()
    expect((await open('?types=project.*')).total).toBe('1 change')
  })
})
