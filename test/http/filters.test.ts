import { beforeAll, expect, it } from 'vitest'
import type * as z from 'zod'
import { insertConsumer, insertLink, insertMerged } from '../consumers/rows'
import { insertDevice } from '../devices/rows'
import { insertGrants } from '../entitlements/rows'
import { addMember, invited, type Json, mint, STORE } from '../harness'
import { isList, nameOf, ROUTES } from '../routes/of-app'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'
import { insertDomain, insertIdentity } from '../sso/rows'

/*
 * A filter of a list finds the rows that have its value, all of them and no others, and two filters those that have both: each list is
 * read whole and compared. A new filter without a line here fails.
 */

type Row = Json['data'][0]
/** The value of a row that each filter of a list is about; null where no filter finds it. */
const FILTERS: Record<string, Record<string, (row: Row) => unknown>> = {
  'GET /platform/v1/api-keys': { secret_issued_to: (row) => row.secret_issued_to.id },
  'GET /platform/v1/members': { role: (row) => row.role },
  'GET /platform/v1/invitations': { state: (row) => row.state },
  'GET /platform/v1/consumers': { state: (row) => row.state, email: (row) => row.email },
  'GET /platform/v1/consumers/:consumer/devices': { state: (row) => row.state },
  'GET /platform/v1/domains': { purpose: (row) => row.purpose, state: (row) => row.state },
  'GET /platform/v1/billing/grants': { consumer: (row) => row.consumer_id },
  'GET /platform/v1/billing/customers': {
    vendor: (row) => row.vendor,
    linked: (row) => row.consumer_id !== null,
    consumer: (row) => row.consumer_id,
  },
  'GET /platform/v1/webhook-endpoints/:id/deliveries': { state: (row) => row.state },
  'GET /platform/v1/sso/identities': { consumer: (row) => row.consumer_id, user_id: (row) => row.user_id },
}
/** Lists whose filters have tests of their own: they are about times, parts of words, or what was processed. */
const ELSEWHERE = [
  'audit-log',
  'billing/webhooks',
  'billing/subscriptions',
  'billing/invoices',
  'billing/payment-methods',
  'billing/purchases',
  'notices',
]
/** As for these lists: how long a key was not used is a time, with `guests` a list has more, and with `order` as much. */
const FILTERS_ELSEWHERE = ['unused_days', 'guests', 'order']

const filtersOf = ({ meta }: (typeof ROUTES)[number]) =>
  Object.keys((meta.query as z.ZodObject).shape).filter(
    (name) => name !== 'limit' && name !== 'cursor' && !FILTERS_ELSEWHERE.includes(name),
  )
const lists = ROUTES.filter((route) => isList(route) && filtersOf(route).length > 0)
const of = (route: (typeof ROUTES)[number]) => FILTERS[nameOf(route)] ?? {}

let world: World
beforeAll(async () => {
  world = await newWorld()
  const { project, consumer, survivor, sso } = world
  await addMember(project, 'viewer')
  await mint((await addMember(project, 'admin')).token, project)
  for (const state of ['pending', 'accepted', 'declined', 'revoked']) await invited(project, { state })
  await invited(project, { expires_at: 1 })
  const [blocked, other] = [await insertConsumer(project, 'blocked'), await insertConsumer(project, 'other')]
  await insertMerged(project, survivor, 1)
  const email = "UPDATE consumers SET email = 'ada@acme.dev' WHERE id IN (?, ?)"
  await STORE.batch([
    STORE.prepare("UPDATE consumers SET state = 'blocked' WHERE id = ?").bind(blocked),
    STORE.prepare(email).bind(blocked, other),
  ])
  const revoked = await insertDevice(project, consumer)
  await STORE.prepare("UPDATE devices SET state = 'revoked', revoked_at = 1 WHERE id = ?").bind(revoked).run()
  for (const purpose of ['sso', 'surface'])
    for (const state of ['pending', 'verified', 'grace', 'failed', 'released'])
      await insertDomain(project, `${purpose}-${state}.${project.slice(-8)}.dev`, { purpose, state })
  await insertGrants(project, survivor)
  await insertLink(project, 'cus_unlinked')
  await insertLink(project, 'cus_pinned', { pinned: consumer })
  await insertLink(project, 'cus_paddle', { pinned: survivor })
  await STORE.prepare("UPDATE customer_links SET vendor = 'paddle' WHERE customer = 'cus_paddle' AND project_id = ?")
    .bind(project)
    .run()
  await insertIdentity(project, sso.id, survivor)
  await STORE.batch(
    ['pending', 'failed', 'pending'].map((state, n) =>
      STORE.prepare(
        "INSERT INTO deliveries (project_id, endpoint_id, seq, type, state) VALUES (?, ?, ?, 'consumer.created', ?)",
      ).bind(project, world.endpoint.id, n + 1, state),
    ),
  )
})

async function rowsOf(route: (typeof ROUTES)[number], query: Record<string, unknown>) {
  const sent = Object.entries({ limit: 100, ...query }).map(([name, value]) => [name, String(value)])
  const answer = await callRoute(world, route, {
    token: tokenFor(world, route),
    query: String(new URLSearchParams(sent)),
  })
  expect([answer.status, answer.body.has_more], answer.text).toEqual([200, false])
  return answer.body.data
}

it('Every filter of every list has a line here', () => {
  const here = lists.filter(({ path }) => !ELSEWHERE.some((part) => path.includes(`/v1/${part}`)))
  expect(Object.fromEntries(here.map((route) => [nameOf(route), filtersOf(route).sort()]))).toEqual(
    Object.fromEntries(Object.entries(FILTERS).map(([name, fields]) => [name, Object.keys(fields).sort()])),
  )
})

it.each(lists.filter((route) => nameOf(route) in FILTERS).map((route) => [nameOf(route), route] as const))(
  '%s',
  async (_, route) => {
    const all = await rowsOf(route, {})
    const fields = Object.entries(of(route))
    const values = fields.map(([name, fieldOf]) => ({
      name,
      fieldOf,
      found: [...new Set(all.map(fieldOf))],
    }))
    for (const { name, found } of values) expect([name, found.length > 1]).toEqual([name, true])
    const queries = values.flatMap(({ name, found }) =>
      found.filter((value) => value !== null).map((value) => ({ [name]: value })),
    )
    const pairs = queries.flatMap((one, n) => queries.slice(n + 1).map((two) => ({ ...one, ...two })))
    for (const query of [...queries, ...pairs]) {
      const expected = all.filter((row) =>
        Object.entries(query).every(([name, value]) => of(route)[name]?.(row) === value),
      )
      expect([query, await rowsOf(route, query)]).toEqual([query, expected])
    }
  },
)
