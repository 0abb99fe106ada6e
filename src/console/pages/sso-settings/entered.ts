import type { SsoConnection } from '../../../sso/connections/store'

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

/** The fields of a form that changes a connection. An empty secret leaves the one that is stored. */
export function changesIn(form: URLSearchParams): Record<string, unknown> {
  const { audience, issuer, ...changes } = fieldsIn(form)
  return changes
}

/** The settings of a connection as its form has them. */
export function enteredOf({ name, client_id, auth_method, settings, domains }: SsoConnection): URLSearchParams {
  const { scopes, claims, default_role, redirect_uris, create_consumers, surface_id } = settings
  return new URLSearchParams([
    ['name', name],
    ['client_id', client_id],
    ['default_role', default_role ?? ''],
    ['redirect_uris', redirect_uris.join('\n')],
    ['create_consumers', String(create_consumers)],
    ['surface_id', surface_id ?? ''],
    ['auth_method', auth_method],
    ['scopes', scopes.join(' ')],
    ['claim_email', claims.email],
    ['claim_name', claims.name],
    ...domains.map(({ id }): [string, string] => ['domain_ids', id]),
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
