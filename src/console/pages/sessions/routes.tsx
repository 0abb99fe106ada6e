import { Hono } from 'hono'
import { listAccountEvents } from '../../../accounts/events'
import { findUser } from '../../../accounts/security-notices'
import { changeNotices } from '../../../accounts/tell'
import { batch, run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { requireConfirmed } from '../../../http/policy'
import { notFound } from '../../../lib/fault'
import { eraseUser } from '../../../members/erase'
import { deleteSession, deleteSessions, listSessions, type Session } from '../../../sessions/session'
import { endingOf } from '../../../sessions/sign-in'
import { action } from '../../action'
import { pageAsked, readList } from '../../list'
import { page } from '../../page'
import { Refused } from '../../refusal'
import { forgetSession, userOf } from '../../session'
import { Field } from '../../ui/controls'
import { activityPage } from './activity'
import { listPage } from './list'

/** Events on the page of sessions. */
const RECENT = 8

const SESSIONS = '/console/sessions'
const placed = { section: 'sessions', above: ['Sessions', SESSIONS] } as const

const endAll = action({
  at: '/end-all',
  needs: 'user',
  ask: () => ({
    ...placed,
    title: 'Sign out everywhere',
    question: 'Sign out everywhere?',
    says: (
      <>
        <p>
          All your other sessions end immediately, in every browser and API client. You can sign in again at any time.
        </p>
        <p>API keys keep working. If one has leaked, revoke it in its project.</p>
      </>
    ),
    choice: (
      <div class="checks one">
        <label>
          <input type="checkbox" name="here" value="true" autocomplete="off" /> Sign out of this browser too
        </label>
      </div>
    ),
    verb: 'End sessions',
    danger: true,
  }),
  run: async (c) => {
    const here = c.get('form').get('here') === 'true'
    c.get('log').sessions_ended = await deleteSessions(c.get('rt').directory, endingOf(c), !here)
    if (here) forgetSession(c)
    return here
  },
  done: (_, here) => (here ? ['/console/sign-in', 'signed_out_everywhere'] : [SESSIONS, 'sessions_ended']),
})

const erase = action({
  at: '/erase',
  needs: 'account',
  requires: (c) => requireConfirmed(userOf(c)),
  ask: (c, _, { mistakes }) => ({
    ...placed,
    title: 'Delete my account',
    question: 'Delete your account?',
    says: (
      <>
        <ul>
          <li>You leave all projects, and all your sessions end.</li>
          <li>A deleted project without another owner can no longer be restored.</li>
          <li>Pending invitations to you are declined.</li>
          <li>Your address is removed. Audit logs keep your user ID.</li>
          <li>API keys that you created keep working, unless you revoke them.</li>
        </ul>
        <p>This cannot be undone. You can sign up again with the same address, as a new user without these projects.</p>
      </>
    ),
    choice: (
      <>
        <div class="checks one">
          <label>
            <input type="checkbox" name="revoke_keys" value="true" autocomplete="off" /> Revoke the API keys that I
            created, or whose secret I received
          </label>
        </div>
        <Field
          name="email"
          label="Type your email address to delete your account"
          required
          hint={userOf(c).email}
          mistakes={mistakes}
        />
      </>
    ),
    verb: 'Delete my account',
    danger: true,
  }),
  run: async (c) => {
    const user = userOf(c)
    const form = c.get('form')
    if ((form.get('email') ?? '').trim().toLowerCase() !== user.email)
      throw new Refused({ email: 'This is not your address. Nothing was deleted.' })
    if (!(await eraseUser(c.get('rt'), user, form.get('revoke_keys') === 'true', changeOf(c)))) {
      const left = 'You have left 100 projects, but are still a member of others. Send the form again to continue.'
      throw new Refused({ form: left }, 409)
    }
    forgetSession(c)
  },
  done: () => ['/console/sign-in', 'account_deleted'],
})

/** The user's sessions, in browsers and API clients. */
export const sessionPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { directory, now } = c.get('rt')
    const user = userOf(c)
    const list = paging<Session>('console/sessions', pageAsked(c))
    const { rows, events, account } = await batch(directory, {
      rows: listSessions(directory, user, now, list),
      events: listAccountEvents(directory, user.user_id, { before: null, take: user.sso ? 0 : RECENT }),
      account: findUser(directory, user.user_id),
    })
    const sessions = list.page(rows, (row) => row)
    return listPage(c, sessions, { events, notices: account[0]?.notices === true })
  })
  .post('/notices', page('account'), async (c) => {
    await changeNotices(c, c.get('form').get('notices') === 'true')
    return c.redirect('/console/sessions?done=notices_saved', 303)
  })
  .get('/activity', page('account'), async (c) => {
    const { directory } = c.get('rt')
    const { user_id } = userOf(c)
    const read = (before: string | null, take: number) =>
      run(directory, listAccountEvents(directory, user_id, { before, take }))
    return activityPage(c, await readList(c, 'account_events', read))
  })
  .route('/', endAll)
  .route('/', erase)
  .post('/:id/end', page('user'), async (c) => {
    const user = userOf(c)
    const id = c.req.param('id')
    if (!(await deleteSession(c.get('rt').directory, id, endingOf(c)))) throw notFound('Session')
    if (id !== user.id) return c.redirect('/console/sessions?done=session_ended', 303)
    forgetSession(c)
    return c.redirect('/console/sign-in?done=signed_out', 303)
  })
