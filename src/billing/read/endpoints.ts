import { Hono } from 'hono'
import type * as z from 'zod'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { boundedListOf } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import type { ObjectKind } from '../../lib/billing-kinds'
import { MAX_BODIES_READ, MAX_OBJECT_LIST_BYTES, MAX_ROWS_READ } from '../limits'
import { NAMES } from '../names'
import { listing } from './list'
import type { ShownObjects } from './present'
import { listObjects, type ObjectFilters } from './store'

const tag = 'Billing state'
const policy = { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true } as const

type ListQuery = z.ZodType<ObjectFilters & { limit: number; cursor?: string | undefined }>

/**
 * `GET /` of one kind of object: `GET /:id` is mounted beside it.
 *
 * @param Row the object as it is shown
 * @param Query the query of the list: its page and its filters
 */
export function listRoute<K extends ObjectKind, Query extends ListQuery>(
  kind: K,
  Row: z.ZodType<ShownObjects[K]>,
  Query: Query,
) {
  const { many, noun } = NAMES[kind]
  return new Hono<HttpEnv>().get(
    '/',
    route({
      id: `list${many}`,
      summary: `List the project's ${noun}s`,
      description: `Sorted by \`updated_at\`, the latest change first. Filtering by \`customer\` and \`updated_after\` uses an index. With other filters a page reads at most ${MAX_ROWS_READ} rows, or ${MAX_BODIES_READ} with \`created_after\` or \`metadata\`; a page that ends for this reason is \`truncated\`, and its \`next_cursor\` continues from there. A page also ends early, with \`has_more\`, when its objects take ${MAX_OBJECT_LIST_BYTES} bytes.`,
      tag,
      policy,
      responses: {
        200: { description: `A page of ${noun}s.`, schema: boundedListOf(Row) },
      },
    }),
    query(Query),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const list = listing(kind, c.req.valid('query' as never) as z.infer<Query>)
      const { rows } = await read(c, { rows: listObjects(c.get('rt').db, project, kind, list) })
      return answer(c, list.page(rows), 200)
    },
  )
}
