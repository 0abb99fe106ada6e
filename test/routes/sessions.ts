import { newId } from '../../src/lib/ids'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import { call, DIRECTORY, freshProject, invited, signedIn } from '../harness'
import { OWN, type Rows, times } from './row'

// Well-formed, but no such code was sent.
const CODE = { challenge: 'chl_sample', code: 'ABCD1234' }
const confirmed = { ...OWN, confirmed: true } as const

export const SESSIONS: Rows = {
  'POST /auth/codes': {
    who: 'public',
    json: { email: 'sample@example.com' },
    status: 202,
    console: { 'GET /console/sign-in': {}, 'POST /console/sign-in': {} },
  },
  'POST /auth/sessions': {
    who: 'public',
    json: CODE,
    status: 401,
    faults: {
      invalid_code: () => call('/auth/sessions', { method: 'POST', json: { challenge: 'chl_none', code: 'ABCDEFGH' } }),
    },
    console: { 'POST /console/sign-in/code': {} },
  },
  'GET /auth/sessions': {
    who: OWN,
    list: {
      add: ({ owner }, n) =>
        times(n, () => {
          const now = Date.now()
          return DIRECTORY.prepare(
            'INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?)',
          )
            .bind(newId('ses', now), owner.user, newSessionToken(), now, now + HOUR, now)
            .run()
        }),
    },
    console: { 'GET /console/sessions': {} },
  },
  'DELETE /auth/sessions': {
    who: OWN,
    console: { 'GET /console/sessions/end-all': {}, 'POST /console/sessions/end-all': {} },
  },
  'GET /auth/sessions/current': { who: OWN },
  'DELETE /auth/sessions/current': { who: OWN, console: { 'POST /console/sign-out': {} } },
  'DELETE /auth/sessions/:id': { who: OWN, console: { 'POST /console/sessions/:id/end': {} } },
  'POST /auth/session/confirm': {
    who: OWN,
    json: CODE,
    status: 401,
    console: { 'GET /console/confirm': {}, 'POST /console/confirm': {}, 'POST /console/confirm/code': {} },
  },
  'GET /auth/user': { who: OWN },
  'PATCH /auth/user': {
    who: OWN,
    json: { notices: true },
    console: { 'POST /console/sessions/notices': { policy: 'account' } },
  },
  'DELETE /auth/user': {
    who: confirmed,
    console: {
      'GET /console/sessions/erase': { policy: 'account' },
      'POST /console/sessions/erase': { policy: 'account' },
    },
  },
  'GET /auth/events': {
    who: OWN,
    list: {
      add: ({ owner }, n) =>
        times(n, () =>
          DIRECTORY.prepare("INSERT INTO account_events (user_id, id, type, at) VALUES (?, ?, 'sign_in', ?)")
            .bind(owner.user, newId('aev', Date.now()), Date.now())
            .run(),
        ),
    },
    console: { 'GET /console/sessions/activity': { policy: 'account' } },
  },
  'GET /auth/invitations': {
    who: OWN,
    list: {
      add: ({ owner: { email } }, n) =>
        times(n, async () => {
          const { project } = await freshProject()
          await invited(project, { email })
        }),
    },
    console: { 'GET /console/invitations': {}, 'GET /console/invitations/:id': {} },
  },
  'POST /auth/invitations/:id/accept': {
    who: OWN,
    faults: {
      invitation_expired: async () => {
        const { token, email } = await signedIn()
        const { id } = await invited((await freshProject()).project, { email, expires_at: 1 })
        return call(`/auth/invitations/${id}/accept`, { method: 'POST', token })
      },
    },
    console: { 'POST /console/invitations/:id/accept': {} },
  },
  'POST /auth/invitations/:id/decline': { who: OWN, console: { 'POST /console/invitations/:id/decline': {} } },
}
