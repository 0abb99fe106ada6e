import { Hono } from 'hono'
import * as z from 'zod'
import { clientOf } from '../accounts/by'
import { BROWSER_KEPT } from '../accounts/limits'
import { run } from '../db/client'
import { answer } from '../http/answer'
import { sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { exampleOf, flagOrFalse, named, timestamp } from '../http/fields'
import { CONFIRMED_FOR } from '../http/limits'
import { listOf, pageFields, paging } from '../http/page'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, query } from '../http/validate'
import { Fault, notFound } from '../lib/fault'
import { DAY, iso, MINUTE } from '../lib/time'
import { StartedSession, UserShown } from './fields'
import { deleteSession, deleteSessions, findSession, listSessions, type Session as SessionRow } from './session'
import { confirmByCode, endingOf, limitSignIn, requestCode, signIn, takeStep } from './sign-in'

const tag = 'Sessions'
const Session = named(
  'Session',
  z.object({
    id: z.string(),
    created_at: timestamp,
    last_used_at: timestamp,
    expires_at: timestamp,
    confirmed_until: timestamp.describe(
      `Until when the session counts as confirmed: ${CONFIRMED_FOR / MINUTE} minutes after the sign-in, or after the last confirmation.`,
    ),
    second_factor_at: timestamp
      .nullable()
      .describe('When a passkey or a recovery code was last used in the session; null if none was.'),
    connection_id: z
      .string()
      .nullable()
      .describe('The single sign-on connection that opened the session. Null if a code or a passkey did.'),
    user_agent: z.string().nullable(),
    current: z.boolean().describe('Whether this session makes the call.'),
  }),
  {
    id: SAMPLE.session,
    created_at: SAMPLE.time,
    last_used_at: SAMPLE.later,
    expires_at: SAMPLE.end,
    confirmed_until: SAMPLE.end,
    second_factor_at: null,
    connection_id: null,
    user_agent: 'curl/8.15.0',
    current: true,
  },
)
const CodeBody = named(
  'AskForSignInCode',
  z.strictObject({ email: z.email().max(254).describe('The address that the code is sent to.') }),
  { email: SAMPLE.email },
)
const Challenge = named('SignInChallenge', z.object({ challenge: z.string(), expires_at: timestamp }), {
  challenge: SAMPLE.challenge,
  expires_at: SAMPLE.end,
})
const RedeemBody = named(
  'RedeemSignInCode',
  z.strictObject({ challenge: z.string().max(100), code: z.string().max(100) }),
  { challenge: SAMPLE.challenge, code: '7K2M-9QXW' },
)
const CurrentSession = named('CurrentSession', z.object({ session: Session, user: UserShown }), {
  session: exampleOf(Session),
  user: exampleOf(UserShown),
})
const EndAllQuery = z.strictObject({
  keep_current: flagOrFalse.describe('Whether to keep the session that makes the call.'),
})
const sessionOnly = { actors: ['session'], scope: null, project: false } as const
const bounded = { ...sessionOnly, bounded: true } as const

export const authRoutes = new Hono<HttpEnv>()
  .post(
    '/codes',
    route({
      id: 'requestSignInCode',
      summary: 'Request a sign-in code by email',
      description:
        'The response is the same whether the address is known or not, and whether a limit keeps the code from being sent.',
      tag,
      policy: null,
      responses: {
        202: { description: 'The code is on its way.', schema: Challenge },
      },
      faults: ['rate_limited'],
    }),
    body(CodeBody),
    async (c) => {
      await limitSignIn(c)
      const { challenge, expires_at } = await requestCode(c, c.req.valid('json').email)
      return answer(c, { challenge, expires_at: iso(expires_at) }, 202)
    },
  )
  .post(
    '/sessions',
    route({
      id: 'createSession',
      summary: 'Sign in with a code',
      description: `The token is returned only in this response. A code works once, with its challenge, and allows five attempts. Signing in ends the older codes of the address. If your client’s user agent has not signed in to your account in the last ${BROWSER_KEPT / DAY} days, you get an email about it.`,
      tag,
      policy: null,
      responses: {
        201: { description: 'Signed in.', schema: StartedSession },
      },
      faults: ['invalid_code', 'rate_limited'],
    }),
    body(RedeemBody),
    async (c) => {
      const typed = c.req.valid('json')
      const { token, expires_at, user } = await takeStep(c, typed.challenge, () =>
        signIn(c, typed, { browser: clientOf(c) }),
      )
      return answer(c, { token, expires_at: iso(expires_at), user: { id: user.id, email: user.email } }, 201)
    },
  )
  .get(
    '/sessions',
    route({
      id: 'listSessions',
      summary: 'List your sessions',
      description:
        'Newest first. Only sessions that have not ended are listed. A session from single sign-on sees and ends only those of its connection.',
      tag,
      policy: bounded,
      responses: { 200: { description: 'A page of sessions.', schema: listOf(Session) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const rt = c.get('rt')
      const actor = sessionOf(c)
      const list = paging('sessions', c.req.valid('query'))
      const rows = await run(rt.directory, listSessions(rt.directory, actor, rt.now, list))
      return answer(
        c,
        list.page(rows, (row) => present(row, actor.id)),
        200,
      )
    },
  )
  .delete(
    '/sessions',
    route({
      id: 'endAllSessions',
      summary: 'Sign out everywhere',
      description:
        'Ends all of your sessions, in browsers and API clients: their tokens stop working at once. API keys are not affected.',
      tag,
      policy: bounded,
      responses: { 204: { description: 'Ended.' } },
    }),
    query(EndAllQuery),
    async (c) => {
      const { keep_current } = c.req.valid('query')
      c.get('log').sessions_ended = await deleteSessions(c.get('rt').directory, endingOf(c), keep_current)
      return answer(c, null, 204)
    },
  )
  .get(
    '/sessions/current',
    route({
      id: 'getCurrentSession',
      summary: 'Get the current session and its user',
      description: 'Tells a client who is signed in, and until when.',
      tag,
      policy: bounded,
      responses: { 200: { description: 'The session.', schema: CurrentSession } },
    }),
    async (c) => {
      const actor = sessionOf(c)
      const { directory } = c.get('rt')
      const [session] = await run(directory, findSession(directory, actor.user_id, actor.id))
      if (!session) throw new Fault('unknown_session', 'This session has just ended. Sign in again.')
      return answer(c, { session: present(session, actor.id), user: { id: actor.user_id, email: actor.email } }, 200)
    },
  )
  .post(
    '/session/confirm',
    route({
      id: 'confirmSession',
      summary: 'Confirm the current session with a code',
      description: `Proves again that it is you, for calls that cannot be undone: they respond with \`confirmation_required\` if the session is not confirmed. Request a code for your own address with \`POST /auth/codes\`. A session is confirmed for ${CONFIRMED_FOR / MINUTE} minutes, and a new one is confirmed from its start. A code allows five attempts, as for signing in; a code of another address is invalid.`,
      tag,
      policy: bounded,
      responses: { 200: { description: 'Confirmed.', schema: CurrentSession } },
      faults: ['invalid_code'],
    }),
    body(RedeemBody),
    async (c) => {
      const actor = sessionOf(c)
      const typed = c.req.valid('json')
      const session = await takeStep(c, typed.challenge, () => confirmByCode(c.get('rt'), actor, typed, clientOf(c)))
      return answer(c, { session: present(session, actor.id), user: { id: actor.user_id, email: actor.email } }, 200)
    },
  )
  .delete(
    '/sessions/current',
    route({
      id: 'endCurrentSession',
      summary: 'Sign out',
      description: 'Ends the session that makes the call.',
      tag,
      policy: bounded,
      responses: { 204: { description: 'Signed out.' } },
    }),
    async (c) => {
      await deleteSession(c.get('rt').directory, sessionOf(c).id, endingOf(c))
      return answer(c, null, 204)
    },
  )
  .delete(
    '/sessions/:id',
    route({
      id: 'endSession',
      summary: 'End one of your sessions',
      description: 'Its token stops working at once.',
      tag,
      policy: bounded,
      responses: { 204: { description: 'Ended.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      if (!(await deleteSession(c.get('rt').directory, c.req.param('id'), endingOf(c)))) {
        throw notFound('Session', 'among your sessions')
      }
      return answer(c, null, 204)
    },
  )

function present(row: SessionRow, currentId: string): z.infer<typeof Session> {
  return {
    id: row.id,
    created_at: iso(row.created_at),
    last_used_at: iso(row.last_used_at),
    expires_at: iso(row.expires_at),
    confirmed_until: iso(row.confirmed_at + CONFIRMED_FOR),
    second_factor_at: row.second_factor_at === null ? null : iso(row.second_factor_at),
    connection_id: row.connection_id,
    user_agent: row.user_agent,
    current: row.id === currentId,
  }
}
