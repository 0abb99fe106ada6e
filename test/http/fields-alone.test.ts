import { expect, it } from 'vitest'
import type { RouteEntry } from '../../src/http/openapi'
import { SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { nameOf, ROUTES } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { callRoute, tokenFor } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

/*
 * A PATCH with one field changes that one and nothing else that the API shows, whatever else could be sent; with the same value again,
 * nothing. Each field of the body that the route's row has. Settings of a project are in test/tenancy.
 */

/** Values that differ from those of a new world, where those of the row do not. */
const OTHER: Record<string, Record<string, unknown>> = {
  'PATCH /platform/v1/consumers/:consumer': { email: 'ada@acme.dev', name: 'Ada' },
  'PATCH /platform/v1/billing/plans/:id': {
    prices: [{ vendor: 'stripe', ref: 'price_alone', lasts: 'P1Y', again: null }],
  },
  'PATCH /platform/v1/billing/connections/:id': { status: 'disabled' },
  'PATCH /platform/v1/sso/connections/:id': {
    name: 'Other',
    scopes: ['openid', 'groups'],
    claims: { email: 'mail', name: 'name' },
  },
  'PATCH /auth/user': { notices: false },
  'PATCH /platform/v1/webhook-endpoints/:id': {
    url: 'https://other.plain.dev/hook',
    types: ['webhook_endpoint.updated'],
    ordered: true,
    include_object: true,
  },
}
/** Fields that are sent under one name and shown under another. */
const SHOWN_AS: Record<string, string> = { external_id: 'external_ids' }
/** Fields that only go together, or name what a new world lacks. */
const NOT_ALONE = ['client_secret', 'auth_method', 'domain_ids', 'signing_secret', 'credentials']
/** What any change changes too; and what a field brings with it. */
const WITH_ANY = ['revision', 'updated_at', 'behind']
const BRINGS: Record<string, string[]> = { state: ['disabled_reason', 'next_attempt_at'] }

const readOf = ({ path }: RouteEntry) => ROUTES.find((one) => one.method === 'GET' && one.path === path)
const patches = ROUTES.filter((route) => route.method === 'PATCH' && readOf(route) !== undefined)
const cases = patches.flatMap((route) => {
  const name = nameOf(route)
  const fields = { ...ROWS[name]?.json, ...OTHER[name] }
  return Object.entries(fields)
    .filter(([field]) => !NOT_ALONE.includes(field))
    .map(([field, value]) => [name, field, value, route] as const)
})

/** What the API shows of what a route changes. */
async function shown(world: World, route: RouteEntry, token: string | null): Promise<Record<string, unknown>> {
  const answer = await callRoute(world, readOf(route) as RouteEntry, { token })
  return answer.body as unknown as Record<string, unknown>
}

it.each(cases)('%s: %s', async (_, field, value, route) => {
  stopClock()
  const world = await newWorld()
  const token = tokenFor(world, route)
  const before = await shown(world, route, token)
  advance(SECOND)
  const { status, text } = await callRoute(world, route, { token, json: { [field]: value } })
  expect(status, text).toBe(200)
  const after = await shown(world, route, token)
  const names = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]))
  const alone = names.filter((name) => !WITH_ANY.includes(name) && !BRINGS[field]?.includes(name))
  expect(alone).toEqual([SHOWN_AS[field] ?? field])
  if (!(field in SHOWN_AS)) expect(after[field]).toEqual(value)
  // Again, a second later: not even its revision moves.
  advance(SECOND)
  expect((await callRoute(world, route, { token, json: { [field]: value } })).status).toBe(200)
  expect(await shown(world, route, token)).toEqual(after)
})
