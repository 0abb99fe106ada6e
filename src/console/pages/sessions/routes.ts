import { Hono } from 'hono'
import { listEvents } from '../../../accounts/events-store'
import { changeNotices } from '../../../accounts/notices'
import { findUser } from '../../../accounts/notices-store'
import { batch, run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { paging } from '../../../http/page'
import { requireConfirmed } from '../../../http/policy'
import { Fault, notFound } from '../../../lib/fault'
import { eraseUser } from '../../../members/erase'
import { endingOf } from '../../../sessions/ending'
import { deleteSession, deleteSessions, listSessions, type Session } from '../../../sessions/store'
import { pageAsked, readList } from '../../list'
import { page } from '../../page'
import { forgetSession, userOf } from '../../session'
import { activityPage } from './activity'
import { endAllPage } from './end-all'
import { erasePage } from './erase'
import { listPage } from './list'

/** Events on the page of sessions. */
const RECENT = 8

/** The user's sessions, in browsers and API clients. */
export const sessionPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { directory, now } = c.get('rt')
    const user = userOf(c)
    const list = paging<Session>('console/sessions', pageAsked(c))
    const { rows, events, account } = await batch(directory, {
      rows: listSessions(directory, user, now, list),
      events: listEvents(directory, user.user_id, { before: null, take: user.sso ? 0 : RECENT }),
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
      run(directory, listEvents(directory, user_id, { before, take }))
    return activityPage(c, await readList(c, 'account_events', read))
  })
  .get('/end-all', page('user'), (c) => endAllPage(c))
  .post('/end-all', page('user'), async (c) => {
    const here = c.get('form').get('here') === 'true'
    c.get('log').sessions_ended = await deleteSessions(c.get('rt').directory, endingOf(c), !here)
    if (!here) return c.redirect('/console/sessions?done=sessions_ended', 303)
    forgetSession(c)
    return c.redirect('/console/sign-in?done=signed_out_everywhere', 303)
  })
  .get('/erase', page('account'), (c) => {
    requireConfirmed(userOf(c))
    return erasePage(c)
  })
  .post('/erase', page('account'), async (c) => {
    const user = userOf(c)
    requireConfirmed(user)
    const form = c.get('form')
    if ((form.get('email') ?? '').trim().toLowerCase() !== user.email) {
      return erasePage(c, { email: 'This is not your address. Nothing was deleted.' }, 422)
    }
    try {
      const revokeKeys = form.get('revoke_keys') === 'true'
      if (!(await eraseUser(c.get('rt'), user, revokeKeys, changeOf(c)))) {
        const form = 'You have left 100 projects, but are still a member of others. Send the form again to continue.'
        return erasePage(c, { form }, 409)
      }
    } catch (error) {
      if (!(error instanceof Fault) || error.fault !== 'last_owner') throw error
      return erasePage(c, { form: error.detail }, 409)
    }
    forgetSession(c)
    return c.redirect('/console/sign-in?done=account_deleted', 303)
  })
  .post('/:id/end', page('user'), async (c) => {
    const user = userOf(c)
    const id = c.req.param('id')
    if (!(await deleteSession(c.get('rt').directory, id, endingOf(c)))) throw notFound('Session')
    if (id !== user.id) return c.redirect('/console/sessions?done=session_ended', 303)
    forgetSession(c)
    return c.redirect('/console/sign-in?done=signed_out', 303)
  })
