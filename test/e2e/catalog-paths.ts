import { must } from '../../scripts/lib/api.ts'
import { URL_OF_CONSOLE } from './browser.ts'

/**
 * Fills a project with a catalog and grants, some with the longest names, and names the pages about them.
 *
 * @param consumer the external id of a consumer that the project has
 */
export async function catalogPaths(
  { token, project, empty }: { token: string; project: string; empty: string },
  consumer: string,
): Promise<Record<string, string>> {
  const api = <T>(path: string, json: unknown, method: 'PUT' | 'POST' = 'POST') =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/billing/${path}`, { method, token, project, json })
  const feature = (key: string, name: string, type: string) => api(`features/${key}`, { name, type }, 'PUT')
  await feature('sso', 'Single sign-on', 'boolean')
  await feature('seats', 'Seats', 'quantity')
  await feature('limits', 'Limits of the import', 'config')
  await feature('k'.repeat(64), 'N'.repeat(100), 'quantity')
  const plan = await api<{ id: string }>('plans', {
    ...{ key: 'pro', name: 'Pro', rank: 10 },
    features: {
      sso: { value: true },
      seats: { value: 5, per_seat: true },
      limits: { value: { rows: 1000, cols: [1] } },
    },
    prices: [
      { vendor: 'stripe', ref: 'price_1' },
      { vendor: 'paddle', ref: 'pri_01hv0vax6rv18t4tamj848ne4d' },
    ],
  })
  await api('plans', { key: 'p'.repeat(64), name: 'N'.repeat(100), state: 'archived' })
  const grant = (json: object) => api<{ id: string }>('grants', { consumer: `ext:${consumer}`, ...json })
  await grant({ plan: 'pro', reason: 'A pilot until the contract is signed', expires_at: '2099-01-01T00:00:00Z' })
  const denied = await grant({ feature: 'sso', effect: 'deny' })
  const billing = `/console/p/${project}/platform/billing`
  const at = `/console/p/${project}/platform/consumers/ext:${consumer}`
  return {
    'plans-empty': `/console/p/${empty}/platform/billing/plans`,
    plans: `${billing}/plans`,
    plan: `${billing}/plans/${plan.id}`,
    'new-plan': `${billing}/plans/new`,
    'edit-plan': `${billing}/plans/${plan.id}/edit`,
    'add-to-plan': `${billing}/plans/add?vendor=stripe&ref=price_2`,
    'features-empty': `/console/p/${empty}/platform/billing/features`,
    features: `${billing}/features`,
    'new-feature': `${billing}/features/new`,
    'delete-feature': `${billing}/features/sso/delete`,
    'general-rules': `/console/p/${project}/platform/settings/general?tab=entitlements`,
    entitlements: `${at}/entitlements`,
    grants: `${at}/grants`,
    'new-grant': `${at}/grants/new`,
    'revoke-grant': `${at}/grants/${denied.id}/revoke`,
  }
}
