import type { OfferedDomain, SsoConnection } from '../../../sso/connections/store'

/** The fields of a form for a new connection, as the API takes them. */
export function fieldsIn(form: URLSearchParams): Record<string, unknown> {
  const audience = form.get('audience') ?? ''
  const secret = form.get('client_secret')?.trim() ?? ''
  return {
    audience,
    name: form.get('name') ?? '',
    issuer: form.get('issuer')?.trim() ?? '',
    client_id: form.get('client_id')?.trim() ?? '',
    ...(secret !== '' && { client_secret: secret }),
    domain_ids: form.getAll('domain_ids'),
    ...(form.has('scopes') && { scopes: linesOf(form.get('scopes')) }),
    ...(form.has('claim_email') && {
      claims: { email: form.get('claim_email')?.trim() ?? '', name: form.get('claim_name')?.trim() ?? '' },
    }),
    ...(form.get('auth_method') && { auth_method: form.get('auth_method') }),
    ...(audience === 'team' && { default_role: form.get('default_role') || null }),
    ...(audience === 'customers' && {
      create_consumers: form.get('create_consumers') === 'true',
      redirect_uris: linesOf(form.get('redirect_uris')),
      ...(form.has('surface_id') && { surface_id: form.get('surface_id') || null }),
    }),
  }
}

/**
 * The fields of a connection's form that the user has changed, compared with what the form showed first. The others are not
 * sent, so they keep what somebody else has changed meanwhile. An empty secret keeps the stored one, unless the client is to
 * have none.
 */
export function changesIn(form: URLSearchParams): Record<string, unknown> {
  const before = form.has('before') ? fieldsIn(new URLSearchParams(form.get('before') ?? '')) : {}
  const { audience, issuer, ...fields } = fieldsIn(form)
  const differs = ([name, value]: [string, unknown]) => JSON.stringify(value) !== JSON.stringify(before[name])
  const changes = Object.fromEntries(Object.entries(fields).filter(differs))
  return { ...(changes.auth_method === 'none' && { client_secret: null }), ...changes }
}

/** The settings of a connection as its form has them. @param domains which the form offers, in its order */
export function enteredOf(
  { audience, name, client_id, auth_method, settings, domains: own }: SsoConnection,
  domains: readonly OfferedDomain[],
): URLSearchParams {
  const { scopes, claims, default_role, redirect_uris, create_consumers, surface_id } = settings
  const ofConnection = domains.filter(({ id }) => own.some((one) => one.id === id))
  return new URLSearchParams([
    ['audience', audience],
    ['name', name],
    ['client_id', client_id],
    ['default_role', default_role ?? ''],
    ['redirect_uris', redirect_uris.join('\n')],
    ['create_consumers', String(create_consumers)],
    ['surface_id', domains.find(({ id }) => id === surface_id)?.id ?? ''],
    ['auth_method', auth_method],
    ['scopes', scopes.join(' ')],
    ['claim_email', claims.email],
    ['claim_name', claims.name],
    ...ofConnection.map(({ id }): [string, string] => ['domain_ids', id]),
  ])
}

/** What a form for a new connection begins with. */
export const BEGINNING = new URLSearchParams({
  scopes: 'openid email profile',
  claim_email: 'email',
  claim_name: 'name',
})

function linesOf(text: string | null): string[] {
  return (text ?? '')
    .split(/\s+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
