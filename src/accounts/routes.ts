import { Hono } from 'hono'
import * as z from 'zod'
import { run } from '../db/client'
import { answer } from '../http/answer'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, query } from '../http/validate'
import { Fault } from '../lib/fault'
import { DAY, iso } from '../lib/time'
import { type AccountEvent as EventRow, listAccountEvents } from './events'
import { EVENTS_KEPT, NOTICES_A_DAY } from './limits'
import type { User } from './schema'
import { EVENT_TYPES } from './schema'
import { findUser } from './security-notices'
import { changeNotices } from './tell'

const AccountEvent = named(
  'AccountEvent',
  z.object({
    id: z.string(),
    type: named('AccountEventType', z.enum(EVENT_TYPES)).describe('Types may be added, so expect others too.'),
    at: timestamp.describe('The last time, if `count` is more than 1.'),
    count: z.int().describe('How often. Only failed attempts are counted, by the hour; otherwise 1.'),
    session_id: z
      .string()
      .nullable()
      .describe('The session that was opened, confirmed or ended, or in which it happened. Null for a failed attempt.'),
    user_agent: z
      .string()
      .nullable()
      .describe('As the client calls itself. For failed attempts, that of the last one.'),
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

const Account = named(
  'Account',
  z.object({
    id: z.string(),
    email: z.string(),
    created_at: timestamp,
    notices: z
      .boolean()
      .describe(
        'Whether you get an email about sign-ins from unknown browsers, API keys minted in your name, and changes of your passkeys and recovery codes.',
      ),
  }),
  { id: SAMPLE.user, email: SAMPLE.email, created_at: SAMPLE.time, notices: true },
)
const ChangeAccount = named('ChangeAccount', z.strictObject({ notices: z.boolean() }), { notices: false })
const policy = { actors: ['session'], scope: null, project: false } as const
const tag = 'Sessions'

export const accountRoutes = new Hono<HttpEnv>()
  .get(
    '/user',
    route({
      id: 'getAccount',
      summary: 'Get your account',
      description: 'The user of the session, and the settings of their account.',
      tag,
      policy: { ...policy, bounded: true },
      responses: { 200: { description: 'The account.', schema: Account } },
    }),
    async (c) => {
      const { directory } = c.get('rt')
      const [user] = await run(directory, findUser(directory, sessionOf(c).user_id))
      return answer(c, presentUser(user), 200)
    },
  )
  .patch(
    '/user',
    route({
      id: 'updateAccount',
      summary: 'Turn security emails on or off',
      description: `At most ${NOTICES_A_DAY} of them are sent to a user on a day. Turning them off is logged in the account’s events, and is the last email.`,
      tag,
      policy,
      responses: { 200: { description: 'The account.', schema: Account } },
    }),
    body(ChangeAccount),
    async (c) => answer(c, presentUser(await changeNotices(c, c.req.valid('json').notices)), 200),
  )
  .get(
    '/events',
    route({
      id: 'listAccountEvents',
      summary: 'List what happened to your account',
      description: `Newest first; kept for ${EVENTS_KEPT / DAY} days. Sign-ins and sign-outs, confirmations, and changes of passkeys and recovery codes. Failed sign-ins are wrong codes for your address, from anybody: one entry for each hour.`,
      tag,
      policy,
      responses: { 200: { description: 'A page of events.', schema: listOf(AccountEvent) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { directory } = c.get('rt')
      const list = paging('account_events', c.req.valid('query'))
      const rows = await run(directory, listAccountEvents(directory, sessionOf(c).user_id, list))
      return answer(c, list.page(rows, present), 200)
    },
  )

/** @throws {Fault} `unknown_session` if the user was removed after authentication */
function presentUser(user: User | undefined): z.infer<typeof Account> {
  if (!user) throw new Fault('unknown_session', 'Session not found. Sign in again.')
  return { id: user.id, email: user.email, created_at: iso(user.created_at), notices: user.notices }
}

function present(row: EventRow): z.infer<typeof AccountEvent> {
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
