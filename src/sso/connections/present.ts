import type { Context } from 'hono'
import type * as z from 'zod'
import type { HttpEnv } from '../../http/context'
import { iso, isoOrNull } from '../../lib/time'
import { callbackUrl } from '../login/address'
import type { SsoConnectionShown } from './fields'
import { isTested } from './rules'
import type { SsoConnection } from './store'

/** A connection as the API shows it. */
export function present(c: Context<HttpEnv>, row: SsoConnection): z.infer<typeof SsoConnectionShown> {
  const { settings, discovery } = row
  const customers = row.audience === 'customers'
  return {
    id: row.id,
    audience: row.audience,
    name: row.name,
    issuer: row.issuer,
    client_id: row.client_id,
    has_secret: row.secret !== null,
    auth_method: row.auth_method,
    scopes: [...settings.scopes],
    claims: settings.claims,
    domains: row.domains,
    default_role: settings.default_role,
    create_consumers: customers ? settings.create_consumers : null,
    redirect_uris: customers ? [...settings.redirect_uris] : null,
    surface_id: settings.surface_id,
    callback_url: callbackUrl(c, row),
    state: row.state,
    enforce: row.enforced,
    tested_at: isTested(row) ? isoOrNull(row.tested_at) : null,
    last_used_at: isoOrNull(row.last_used_at),
    discovery: discovery && { ok: discovery.ok, detail: discovery.detail, checked_at: iso(discovery.checked_at) },
    created_at: iso(row.created_at),
  }
}
