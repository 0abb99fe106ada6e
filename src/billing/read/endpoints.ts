import { Hono } from 'hono'
import * as z from 'zod'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { boundedListOf } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import type { ObjectKind } from '../../lib/billing-kinds'
import { MAX_ROWS_READ } from '../limits'
import { NAMES, noObject } from '../names'
import { vendorName } from './fields'
import { listing } from './list'
import { present } from './present'
import { findObject, listObjects, type ObjectFilters } from './store'

const tag = 'Billing state'
const policy = { actors: ['session', 'api_key'], scope: 'billing:read', project: true, reads: true } as const

type ListQuery = z.ZodType<ObjectFilters & { limit: number; cursor?: string | undefined }>

/**
 * `GET /` and `GET /:id` of one kind of object.
 *
 * @param Row the object as it is shown
 * @param Query the query of the list: its page and its filters
 */
export function objectRoutes<Row extends z.ZodType, Query extends ListQuery>(kind: ObjectKind, Row: Row, Query: Query) {
  const { one, many, noun, aNoun } = NAMES[kind]
  return new Hono<HttpEnv>()
    .get(
      '/',
      route({
        id: `list${many}`,
        summary: `List the project's ${noun}s`,
        description: `Sorted by id, descending. Filtering by \`customer\` uses an index. With other filters a page reads at most ${MAX_ROWS_READ} rows; a page that ends for this reason is \`truncated\`, and its \`next_cursor\` continues from there.`,
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
        const page = list.page(rows)
        return c.json({ ...page, data: page.data as z.infer<Row>[] }, 200)
      },
    )
    .get(
      '/:id',
      route({
        id: `get${one}`,
        summary: `Get ${aNoun}`,
        description: `The state that its events add up to.`,
        tag,
        policy,
        responses: { 200: { description: `The ${noun}.`, schema: Row } },
        faults: ['not_found'],
      }),
      query(
        z.strictObject({ vendor: vendorName.optional().describe('Needed only where two vendors use the same id.') }),
      ),
      async (c) => {
        const project = projectOf(c.get('actor'))
        const { vendor } = c.req.valid('query')
        const { rows } = await read(c, {
          rows: findObject(c.get('rt').db, project, { kind, id: c.req.param('id'), vendor }),
        })
        if (!rows[0]) throw noObject(kind)
        return c.json(present(rows[0]) as z.infer<Row>, 200)
      },
    )
}
