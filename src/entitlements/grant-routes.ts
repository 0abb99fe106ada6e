import { Hono } from 'hono'
import { MAX_GRANTS } from '../consumers/limits'
import { refOf, refToChange } from '../consumers/ref'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { GrantBody, GrantQuery, GrantShown, grantOf, presentGrant } from './grant-fields'
import { findGrant, insertGrant, listGrants, revokeGrant } from './grants'

const tag = 'Entitlements'
const actors = ['session', 'api_key'] as const

export const grantRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createGrant',
      summary: 'Grant a feature or a plan to a consumer, or deny a feature',
      description: `A grant adds to what the consumer pays for. A denied feature is off, even if a plan or a grant includes it. A consumer can have ${MAX_GRANTS} live grants.`,
      tag,
      policy: { actors, scope: 'entitlements:write', project: true },
      responses: { 201: { description: 'The grant.', schema: GrantShown } },
      faults: ['not_found', 'consumer_merged', 'consumer_erased', 'grant_limit_reached'],
      repeated: async (c, { object_id }) => {
        const { rows } = await read(c, { rows: findGrant(c.get('rt').db, projectOf(c.get('actor')), object_id) })
        return answer(c, presentGrant(requireFound(rows, 'Grant')), 201)
      },
    }),
    body(GrantBody),
    async (c) => {
      const { db, now } = c.get('rt')
      const sent = c.req.valid('json')
      const grant = grantOf(sent, now)
      const to = { project_id: projectOf(c.get('actor')), ref: refToChange(sent.consumer) }
      return answer(c, presentGrant(await insertGrant(db, to, grant, changeOf(c))), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listGrants',
      summary: 'List grants',
      description: 'Newest first. Revoked and expired grants too, for as long as records are kept.',
      tag,
      policy: { actors, scope: 'entitlements:read', project: true, reads: true },
      responses: { 200: { description: 'A page of grants.', schema: listOf(GrantShown) } },
    }),
    query(GrantQuery),
    async (c) => {
      const sent = c.req.valid('query')
      const list = paging('grants', sent)
      const consumer = sent.consumer === undefined ? undefined : (refOf(sent.consumer) ?? undefined)
      const { rows } = await read(c, { rows: listGrants(c.get('rt').db, projectOf(c.get('actor')), consumer, list) })
      return answer(c, list.page(rows, presentGrant), 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'revokeGrant',
      summary: 'Revoke a grant',
      description: 'It stops counting at once, and stays in the list. Revoking it again changes nothing.',
      tag,
      policy: { actors, scope: 'entitlements:write', project: true },
      responses: { 204: { description: 'Revoked.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await revokeGrant(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id'), changeOf(c))
      return answer(c, null, 204)
    },
  )
