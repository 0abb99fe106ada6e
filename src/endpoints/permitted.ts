import type { Context } from 'hono'
import type * as z from 'zod'
import { run } from '../db/client'
import type { Relay } from '../followers/schema'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { requireScopes } from '../http/policy'
import { invalidField } from '../http/validate'
import { listConnectionNames } from '../inbox/connections/connection'
import { requireFound } from '../lib/fault'
import { createEndpoint, type EndpointChanges, requireAddress, updateEndpoint } from './change'
import { type EndpointRow, findEndpoint } from './endpoint'
import { type CreateEndpoint, scopesOf } from './fields'
import { endpointOf } from './named'
import { NO_OBJECT, ONE_KIND } from './relay-fields'

/**
 * Creates an endpoint, if the caller may read all that it gets: see {@link createEndpoint}.
 *
 * @throws {Fault} `validation_failed`, `insufficient_scope`, `insufficient_role`, `endpoint_limit_reached`
 */
export async function makeEndpoint(c: Context<HttpEnv>, asked: z.infer<typeof CreateEndpoint> & { id?: string }) {
  const rt = c.get('rt')
  const { types = [], relay = null, ...rest } = asked
  requireAddress(rt, rest.url)
  requireScopes(c.get('actor'), scopesOf({ types, relay }))
  await requireConnections(c, relay)
  return createEndpoint(rt, projectOf(c.get('actor')), { types, relay, ...rest }, changeOf(c))
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
    const { types, relay } = requireFound(await run(db, findEndpoint(db, of.project_id, id)), 'Webhook endpoint')
    requireKind(changes, relay)
    if (!onlyDisables) requireScopes(c.get('actor'), scopesOf({ types: changes.types ?? types, relay }))
    await requireConnections(c, changes.relay)
    const row = await updateEndpoint(db, of, { asRead: types, changes }, changeOf(c))
    if (row) return row
  }
}

/** An endpoint that gets changes does not become a relay, nor a relay one that gets changes: what waits for a retry would be lost. */
function requireKind({ types, relay, include_object }: EndpointChanges, own: Relay | null): void {
  if (relay && !own) throw invalidField('/relay', 'unknown_field', ONE_KIND)
  if (types && own) throw invalidField('/types', 'unknown_field', ONE_KIND)
  if (include_object && own) throw invalidField('/include_object', 'unknown_field', NO_OBJECT)
}

/** @throws {Fault} `validation_failed` for a connection that the project does not have */
async function requireConnections(c: Context<HttpEnv>, relay: Relay | null | undefined): Promise<void> {
  const ids = relay?.connection_ids
  if (!ids) return
  const { db } = c.get('rt')
  const known = await run(db, listConnectionNames(db, projectOf(c.get('actor'))))
  const isStrange = (one: string) => !known.some(({ id }) => id === one)
  const strange = ids.find(isStrange)
  if (strange)
    throw invalidField('/relay/connection_ids', 'not_one_of', `must be connections of the project: ${strange} is not`)
}
