import type * as z from 'zod'
import type { CheckedEntitlements, EntitlementsShown } from '../../src/entitlements/fields'
import { billingWorld } from '../billing/world'
import { catalogAs } from '../catalog/catalog'
import { as } from '../consumers/consumers'
import { call, lossyQueue, type RequestOptions } from '../harness'
import { everyD1 } from '../harness/stores'

/** D1 whose own clock shows the test's. */
export function clockedD1(): D1Database {
  return everyD1(clocked)
}

/** One database whose own clock shows the test's. */
export function clocked(real: D1Database): D1Database {
  const atNow = (query: string) => query.replaceAll("unixepoch('subsec') * 1000", String(Date.now()))
  return {
    prepare: (query: string) => real.prepare(atNow(query)),
    batch: (statements: D1PreparedStatement[]) => real.batch(statements),
  } as unknown as D1Database
}

/** A project with connections, a catalog and consumers, in which the database's clock is the test's. */
export async function entitlementWorld() {
  const world = await billingWorld()
  const { project, token } = world
  const always = () => ({ bindings: { DB: clockedD1(), EVENTS: lossyQueue().EVENTS } })
  const ask = <T>(method: string, path: string, options: RequestOptions = {}) =>
    call<T>(`/platform/v1${path}`, { method, project, token, ...always(), ...options })
  return {
    ...world,
    ask,
    catalog: catalogAs(project, token),
    consumers: as(project, token),
    check: (consumers: string[], features: string[], options?: RequestOptions) =>
      ask<z.infer<typeof CheckedEntitlements>>('POST', '/billing/entitlements/check', {
        json: { consumers, features },
        ...options,
      }),
    /** What one consumer may do, by the key of the feature. */
    one: async (consumer: string, query = '') =>
      (await ask<z.infer<typeof EntitlementsShown>>('GET', `/consumers/${consumer}/entitlements${query}`)).body,
    grant: (json: object) => ask<{ id: string }>('POST', '/billing/grants', { json }),
    revoke: (id: string) => ask('DELETE', `/billing/grants/${id}`),
    settings: (settings: object) =>
      call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: world.owner.token, json: { settings } }),
  }
}
export type EntitlementWorld = Awaited<ReturnType<typeof entitlementWorld>>

/** The features of the tests, and two plans. */
export async function sellPlans({ catalog }: EntitlementWorld) {
  await Promise.all([
    catalog.feature('sso'),
    catalog.feature('seats', { name: 'Seats', type: 'quantity' }),
    catalog.feature('projects', { name: 'Projects', type: 'quantity', combine: 'sum' }),
    catalog.feature('limits', { name: 'Limits', type: 'config' }),
  ])
  const price = (ref: string) => [{ vendor: 'stripe', ref }]
  const seats = { value: 1, per_seat: true }
  await catalog.plan({
    ...{ key: 'starter', name: 'Starter', rank: 1, prices: price('price_starter') },
    features: { seats, projects: { value: 3 }, limits: { value: { rows: 100 } } },
  })
  await catalog.plan({
    ...{ key: 'pro', name: 'Pro', rank: 10, prices: price('price_pro') },
    features: { sso: { value: true }, seats, projects: { value: 'unlimited' }, limits: { value: { rows: 1000 } } },
  })
}
