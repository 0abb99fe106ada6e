import { must } from '../../scripts/lib/api.ts'
import { URL_OF_CONSOLE } from './browser.ts'

/** The paths of the pages about domains and single sign-on, by name, in a project that gets some with the longest values. */
export async function ssoPaths({ token, project, empty }: { token: string; project: string; empty: string }) {
  const api = <T>(path: string, json: unknown) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, { token, project, json })
  // As long as a name may be.
  const hostname = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(37)}.dev`
  const domain = await api<{ id: string }>('domains', { hostname, purpose: 'sso' })
  const host = await api<{ id: string }>('domains', { hostname: 'auth.pages.dev', purpose: 'surface' })
  const client = { issuer: 'https://pages.certified.dev', client_id: 'x'.repeat(200), auth_method: 'none' }
  const long = { name: 'N'.repeat(100), domain_ids: [domain.id], default_role: 'developer' }
  const team = await api<{ id: string }>('sso/connections', { audience: 'team', ...client, ...long })
  const customers = { audience: 'customers', name: 'Customers', redirect_uris: ['https://app.acme.dev/signed-in'] }
  const product = await api<{ id: string }>('sso/connections', { ...customers, ...client })
  const { test_id } = await api<{ test_id: string }>(`sso/connections/${team.id}/test`, {})
  const at = `/console/p/${project}/platform/settings`
  const none = `/console/p/${empty}/platform/settings`
  return {
    'domains-empty': `${none}/domains`,
    domains: `${at}/domains`,
    domain: `${at}/domains/${domain.id}`,
    'domain-host': `${at}/domains/${host.id}`,
    'sso-empty': `${none}/sso`,
    sso: `${at}/sso`,
    'new-sso': `${none}/sso/new`,
    'new-sso-customers': `${at}/sso/new?audience=customers`,
    'sso-team': `${at}/sso/${team.id}`,
    'sso-customers': `${at}/sso/${product.id}`,
    'sso-test': `${at}/sso/${team.id}/tests/${test_id}`,
    'enforce-sso': `${at}/sso/${team.id}/enforce`,
    'sign-in-refused': '/console/sign-in?refused=owner_unproven',
  }
}
