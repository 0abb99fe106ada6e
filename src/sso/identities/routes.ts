import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { listMerged } from '../../consumers/read'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { read, readDirectory } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { notFound } from '../../lib/fault'
import { iso } from '../../lib/time'
import { IdentityShown } from '../connections/fields'
import { deleteIdentity, type Identity, listIdentities } from './identities'

const tag = 'Single sign-on'
const actors = ['session', 'api_key'] as const
const ListQuery = z.strictObject({
  ...pageFields,
  consumer: z
    .string()
    .max(100)
    .optional()
    .describe('The id of a consumer. Identities of consumers that were merged into it are listed too.'),
  user_id: z.string().max(100).optional().describe('The id of a user.'),
})

export const ssoIdentityRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listSsoIdentities',
      summary: 'List identities of single sign-on',
      description: 'Which user or consumer each subject of a provider belongs to. Newest first.',
      tag,
      policy: { actors, scope: 'sso:read', project: true, reads: true },
      responses: { 200: { description: 'A page of identities.', schema: listOf(IdentityShown) } },
    }),
    query(ListQuery),
    async (c) => {
      const asked = c.req.valid('query')
      const list = paging('sso-identities', asked)
      const { directory } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const { consumer, user_id } = asked
      const consumers = consumer === undefined ? undefined : await withMerged(c, consumer)
      const { rows } = await readDirectory(c, {
        rows: listIdentities(directory, project, { consumers, user_id, before: list.before, take: list.take }),
      })
      return answer(c, list.page(rows, present), 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'deleteSsoIdentity',
      summary: 'Remove an identity',
      description:
        'The user or consumer stays. The sessions that the identity has opened end. The person’s next sign-in is treated as their first, so it may link the identity again.',
      tag,
      policy: { actors, scope: 'sso:write', project: true, ends: true },
      responses: { 204: { description: 'Removed.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      const project = projectOf(c.get('actor'))
      if (!(await deleteIdentity(c.get('rt').directory, project, c.req.param('id'), changeOf(c)))) {
        throw notFound('Identity')
      }
      return answer(c, null, 204)
    },
  )

/** The ids of a consumer and of those that were merged into it. They are in the project's store. */
async function withMerged(c: Context<HttpEnv>, id: string): Promise<string[]> {
  const { merged } = await read(c, { merged: listMerged(c.get('rt').db, projectOf(c.get('actor')), { id }) })
  return [id, ...merged.map((one) => one.id)]
}

function present(row: Identity): z.infer<typeof IdentityShown> {
  return {
    id: row.id,
    connection_id: row.connection_id,
    issuer: row.issuer,
    subject: row.subject,
    user_id: row.user_id,
    consumer_id: row.consumer_id,
    email: row.email,
    created_at: iso(row.created_at),
    authenticated_at: iso(row.last_used_at),
  }
}
