import { Hono } from 'hono'
import { run } from '../../../db/client'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { deleteSession, listSessions } from '../../../sessions/store'
import { readList } from '../../list'
import { page } from '../../page'
import { userOf } from '../../session'
import { listPage } from './list'

/** The user's sessions, in browsers and API clients. */
export const sessionPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { directory, now } = c.get('rt')
    const { user_id } = userOf(c)
    const read = (before: string | null, take: number) =>
      run(directory, listSessions(directory, user_id, now, { before, take }))
    return listPage(c, await readList(c, 'sessions', read))
  })
  .post('/:id/end', page('user'), async (c) => {
    const user = userOf(c)
    const id = c.req.param('id')
    if (!(await deleteSession(c.get('rt').directory, user.user_id, id)))
      throw new Fault('not_found', 'Session not found.')
    return c.redirect(id === user.id ? '/console/sign-in?done=signed_out' : '/console/sessions?done=session_ended', 303)
  })
