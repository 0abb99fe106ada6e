import { Hono } from 'hono'
import { answer } from '../http/answer'
import type { HttpEnv } from '../http/context'
import { route } from '../http/route'
import { query } from '../http/validate'
import { FoundList, SearchQuery } from './fields'
import { find } from './read'
import { typed } from './typed'

export const findRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'searchProject',
    summary: 'Find anything in the project',
    description:
      'By an id of ours or of a vendor, the first letters of a name, an email address or an external id of a consumer, or a part of the name of what the project has set up. Also the user’s other projects, for a session. Each object needs the scope that reads it; the others are left out. Names are compared without case, for the letters A to Z.',
    tag: 'Search',
    policy: { actors: ['session', 'api_key'], scope: null, project: true, reads: true },
    responses: { 200: { description: 'What the text names, the most likely first.', schema: FoundList } },
  }),
  query(SearchQuery),
  async (c) => {
    const { q } = c.req.valid('query')
    const found = await find(c, typed(q))
    return answer(c, found, 200)
  },
)
