import type { Context } from 'hono'
import { run } from '../db/client'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { requireScopes } from '../http/policy'
import { requireFound } from '../lib/fault'
import { createEndpoint, type EndpointChanges, type NewEndpoint, requireAddress, updateEndpoint } from './change'
import { type EndpointRow, findEndpoint } from './endpoint'
import { scopesOf } from './fields'
import { endpointOf } from './named'

/**
 * Creates an endpoint, if the caller may read all that it gets: see {@link createEndpoint}.
 *
 * @throws {Fault} `validation_failed`, `insufficient_scope`, `insufficient_role`, `endpoint_limit_reached`
 */
export function makeEndpoint(c: Context<HttpEnv>, fields: NewEndpoint & { id?: string }) {
  const rt = c.get('rt')
  requireAddress(rt, fields.url)
  requireScopes(c.get('actor'), scopesOf(fields.types))
  return createEndpoint(rt, projectOf(c.get('actor')), fields, changeOf(c))
}

/**
 * Changes an endpoint, if the caller may read everything that it then gets: otherwise, callers could direct it to servers of their own.
 *
 * @throws {Fault} `validation_failed`, `not_found`, `insufficient_scope`, `insufficient_role`
 */
export async function changeEndpoint(c: Context<HttpEnv>, id: string, changes: EndpointChanges): Promise<EndpointRow> {
  const { db } = c.get('rt')
  requireAddress(c.get('rt'), changes.url)
  const of = endpointOf(c, id)
  const onlyDisables = Object.keys(changes).length === 1 && changes.state === 'disabled'
  for (;;) {
    const { types } = requireFound(await run(db, findEndpoint(db, of.project_id, id)), 'Webhook endpoint')
    if (!onlyDisables) requireScopes(c.get('actor'), scopesOf(changes.types ?? types))
    const row = await updateEndpoint(db, of, { asRead: types, changes }, changeOf(c))
    if (row) return row
  }
}
