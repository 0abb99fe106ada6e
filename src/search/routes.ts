import { Hono } from 'hono'
import { answer } from '../http/answer'
import type { HttpEnv } from '../http/context'
import { route } from '../http/route'
import { query } from '../http/validate'
import { FindQuery, FoundList } from './fields'
import { find } from './read'
import { readText } from './text'

export const findRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'searchProject',
    summary: 'Find anything in the project',
    description:
      'Search by an id of ours or of a vendor. Consumers are also found by the first letters of any word of a name, of an email address or of an external id. Customers are found by the first letters of any word of a name or of an email address, and invoices and purchases by the first characters of a number. What you have set up is also found by a part of its name, and a plan by a vendor’s id of a price or a product. A session also finds the user’s projects. Objects that the caller has no scope to read are left out. In the names of consumers and customers, accents and the case of letters do not matter, and words can be in any order. In other names and in numbers, upper and lower case are the same for the letters A to Z.',
    tag: 'Search',
    policy: { actors: ['session', 'api_key'], scope: null, project: true, reads: true },
    responses: { 200: { description: 'The objects that were found, by type.', schema: FoundList } },
  }),
  query(FindQuery),
  async (c) => {
    const { q } = c.req.valid('query')
    const { data, complete } = await find(c, readText(q))
    return answer(c, { data: data.map(({ about: _, ...shown }) => shown), complete }, 200)
  },
)
