import { Hono } from 'hono'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { requireFound } from '../../lib/fault'
import { findConnection } from '../connections/connection'
import { Format, presentFormat } from './fields'
import { listFormats } from './store'

export const formatRoutes = new Hono<HttpEnv>().get(
  '/:id/formats',
  route({
    id: 'getConnectionFormat',
    summary: 'See which fields the events of a connection have',
    description:
      'For each version of the vendor’s API: the share of billing objects that had a value in each field, as this service reads them. Counts are written about once a minute, and a few may be lost. Each event counts when it is first processed. Replays, fetches and imports do not count.',
    tag: 'Billing connections',
    policy: { actors: ['session', 'api_key'], scope: 'connections:read', project: true, reads: true },
    responses: { 200: { description: 'The format, and what has changed in it.', schema: Format } },
    faults: ['not_found'],
  }),
  async (c) => {
    const { db, now } = c.get('rt')
    const of = { project_id: projectOf(c.get('actor')), connection_id: c.req.param('id') }
    const { connections, rows } = await read(c, {
      connections: findConnection(db, of.project_id, of.connection_id),
      rows: listFormats(db, of),
    })
    requireFound(connections, 'Connection')
    return answer(c, presentFormat(rows, now), 200)
  },
)
