import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { readDirectory } from '../../http/read'
import { route } from '../../http/route'
import { body, query } from '../../http/validate'
import { iso, isoOrNull } from '../../lib/time'
import { MAX_SSO_CONNECTIONS } from '../limits'
import { callbackUrl } from '../login/browser'
import { changeSsoConnection, createConnection, removeConnection, requireConnection, switchConnection } from './change'
import { findSsoConnection, listSsoConnections, type SsoConnection } from './connection'
import { ChangeBody, CreateSsoConnection, SsoConnectionShown } from './fields'
import { isTested } from './rules'

const tag = 'Single sign-on'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'sso:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'sso:write', project: true } as const
const shown = { 200: { description: 'The connection.', schema: SsoConnectionShown } }

export const ssoConnectionRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createSsoConnection',
      summary: 'Connect an OpenID provider',
      description: `The connection is a draft. Enter its \`callback_url\` at the provider, run a test, and activate it. The call succeeds even if the provider cannot be reached: \`discovery\` then says what went wrong. A project can have ${MAX_SSO_CONNECTIONS} connections.`,
      tag,
      policy: mayWrite,
      responses: { 201: { description: 'The connection.', schema: SsoConnectionShown } },
      faults: [
        'daily_limit_reached',
        'connection_limit_reached',
        'domain_taken',
        'encryption_key_unavailable',
        'public_origin_missing',
      ],
      repeated: async (c, { object_id }) => answer(c, await shownById(c, object_id), 201),
    }),
    body(CreateSsoConnection),
    async (c) => {
      const project = projectOf(c.get('actor'))
      return answer(c, present(c, await createConnection(c.get('rt'), project, c.req.valid('json'), changeOf(c))), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listSsoConnections',
      summary: 'List the single sign-on connections',
      description: 'Newest first. Client secrets are never returned.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of connections.', schema: listOf(SsoConnectionShown) } },
      faults: ['public_origin_missing'],
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const list = paging('sso-connections', c.req.valid('query'))
      const { rows } = await readDirectory(c, {
        rows: listSsoConnections(c.get('rt').directory, project, list.before, list.take),
      })
      return answer(
        c,
        list.page(rows, (row) => present(c, row)),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getSsoConnection',
      summary: 'Get a single sign-on connection',
      description: 'The client secret is never returned.',
      tag,
      policy: mayRead,
      responses: shown,
      faults: ['not_found', 'public_origin_missing'],
    }),
    async (c) => answer(c, await shownById(c, c.req.param('id')), 200),
  )
  .patch(
    '/:id',
    route({
      id: 'updateSsoConnection',
      summary: 'Change a single sign-on connection',
      description:
        'Sending the same values again changes nothing. After a change of the client, the scopes, the claims or the surface, run the test again; an active connection keeps working in the meantime. A session must be confirmed to change more than the name of a connection for the team. An API key can only change the name of one that is or was active. `enforce` requires the confirmed session of an owner. To switch it on, the session must come from this connection, which must be active, tested and have a verified domain, and an owner must have break-glass access.',
      tag,
      policy: mayWrite,
      responses: shown,
      faults: [
        'daily_limit_reached',
        'not_found',
        'console_session_required',
        'confirmation_required',
        'domain_taken',
        'domain_unverified',
        'connection_inactive',
        'connection_untested',
        'connection_changed',
        'sso_session_required',
        'break_glass_missing',
        'encryption_key_unavailable',
        'public_origin_missing',
      ],
    }),
    body(ChangeBody),
    async (c) => answer(c, present(c, await changeSsoConnection(c.get('rt'), changing(c), c.req.valid('json'))), 200),
  )
  .delete(
    '/:id',
    route({
      id: 'deleteSsoConnection',
      summary: 'Delete a single sign-on connection',
      description:
        'Its sessions end at once, and its client secret is deleted. Users and consumers stay. Deleting it again changes nothing.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found', 'connection_enforced'],
    }),
    async (c) => {
      await removeConnection(c.get('rt'), { project_id: projectOf(c.get('actor')), id: c.req.param('id') }, changeOf(c))
      return answer(c, null, 204)
    },
  )
  .post(
    '/:id/activate',
    route({
      id: 'activateSsoConnection',
      summary: 'Activate a single sign-on connection',
      description:
        'People can sign in with it from then on. It must have passed a test since its last change. A connection for the team must have a verified domain, and activating it requires a confirmed session. Activating it again changes nothing.',
      tag,
      policy: mayWrite,
      responses: shown,
      faults: [
        'daily_limit_reached',
        'not_found',
        'console_session_required',
        'confirmation_required',
        'connection_untested',
        'connection_changed',
        'domain_unverified',
        'public_origin_missing',
      ],
    }),
    async (c) => answer(c, present(c, await switchConnection(c.get('rt'), changing(c), true)), 200),
  )
  .post(
    '/:id/disable',
    route({
      id: 'disableSsoConnection',
      summary: 'Disable a single sign-on connection',
      description: 'Nobody can sign in with it, and its sessions end at once. Disabling it again changes nothing.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: shown,
      faults: ['not_found', 'connection_enforced', 'connection_changed', 'public_origin_missing'],
    }),
    async (c) => answer(c, present(c, await switchConnection(c.get('rt'), changing(c), false)), 200),
  )

/** The connection that the path names, and who changes it. */
function changing(c: Context<HttpEnv>) {
  const actor = c.get('actor')
  return { actor, of: { project_id: projectOf(actor), id: c.req.param('id') ?? '' }, change: changeOf(c) }
}

async function shownById(c: Context<HttpEnv>, id: string) {
  const found = findSsoConnection(c.get('rt').directory, projectOf(c.get('actor')), id)
  return present(c, requireConnection((await readDirectory(c, { rows: found })).rows[0]))
}

/** A connection as the API shows it. */
function present(c: Context<HttpEnv>, row: SsoConnection): z.infer<typeof SsoConnectionShown> {
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
