import { Hono } from 'hono'
import * as z from 'zod'
import { run } from '../db/client'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { query } from '../http/validate'
import { iso } from '../lib/time'
import { type AccountEvent as EventRow, listEvents } from './events-store'
import { EVENT_TYPES } from './schema'

const AccountEvent = named(
  'AccountEvent',
  z.object({
    id: z.string(),
    type: named('AccountEventType', z.enum(EVENT_TYPES)).describe('Types may be added, so expect others too.'),
    at: timestamp.describe('The last time, if `count` is more than 1.'),
    count: z.int().describe('How often. Only failed sign-ins are counted, by the hour; otherwise 1.'),
    session_id: z
      .string()
      .nullable()
      .describe(
        'The session that was opened, confirmed or ended, or that ended all others. Null for a failed sign-in.',
      ),
    user_agent: z
      .string()
      .nullable()
      .describe('As the client calls itself. For failed sign-ins, that of the last one.'),
    country: z.string().nullable().describe('Where the request came from (ISO 3166-1 alpha-2). Null if unknown.'),
  }),
  {
    id: SAMPLE.accountEvent,
    type: 'sign_in',
    at: SAMPLE.time,
    count: 1,
    session_id: SAMPLE.session,
    user_agent: 'curl/8.15.0',
    country: 'NL',
  },
)

export const accountRoutes = new Hono<HttpEnv>().get(
  '/events',
  route({
    id: 'listAccountEvents',
    summary: 'List the sign-ins and sign-outs of your account',
    description:
      'Newest first; kept for 90 days. Failed sign-ins are wrong codes for your address, from anybody: one entry for each hour.',
    tag: 'Sessions',
    policy: { actors: ['session'], scope: null, project: false },
    responses: { 200: { description: 'A page of events.', schema: listOf(AccountEvent) } },
  }),
  query(z.strictObject(pageFields)),
  async (c) => {
    const { directory } = c.get('rt')
    const list = paging('account_events', c.req.valid('query'))
    const rows = await run(directory, listEvents(directory, sessionOf(c).user_id, list))
    return c.json(list.page(rows, present), 200)
  },
)

function present(row: EventRow) {
  return {
    id: row.id,
    type: row.type,
    at: iso(row.at),
    count: row.count,
    session_id: row.session_id,
    user_agent: row.user_agent,
    country: row.country,
  }
}
