import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { deleteSession, listSessions } from '../../../sessions/store'
import { pageOf } from '../../list'
import { page } from '../../page'
import { userOf } from '../../session'
import { show } from '../../ui/layout'
import { Badge, Head, More, Post, Table, Time } from '../../ui/parts'

/** The sessions of whoever is signed in: browsers and API clients alike. */
export const sessionPages = new Hono<HttpEnv>()
  .get('/', page('user'), async (c) => {
    const { db, now } = c.get('rt')
    const user = userOf(c)
    const read = (before: string | null, limit: number) => listSessions(db, user.user_id, now, before, limit)
    const { data, next_cursor } = await pageOf(c, 'sessions', read)
    return show(
      c,
      { title: 'Sessions' },
      <>
        <Head title="Sessions" />
        <p>
          Where you are signed in, by browser or by API. A session ends 12 hours after its last use, and after 7 days.
        </p>
        <Table
          label="Sessions"
          heads={['Client', 'Signed in', 'Last used', 'Ends', '']}
          rows={data.map((row) => [
            <>
              <span class="cut">{row.user_agent ?? 'Unknown'}</span> {row.id === user.id && <Badge of="this session" />}
            </>,
            <Time at={row.created_at} now={now} />,
            <Time at={row.last_used_at} now={now} />,
            <Time at={row.expires_at} now={now} />,
            <Post c={c} to={`/console/sessions/${row.id}/end`}>
              <button type="submit">
                End<span class="unseen"> session of {row.user_agent ?? 'unknown client'}</span>
              </button>
            </Post>,
          ])}
        />
        <More c={c} cursor={next_cursor} />
      </>,
    )
  })
  .post('/:id/end', page('user'), async (c) => {
    const user = userOf(c)
    const id = c.req.param('id')
    if (!(await deleteSession(c.get('rt').db, user.user_id, id))) throw new Fault('not_found', 'No such session.')
    return c.redirect(id === user.id ? '/console/sign-in?done=signed_out' : '/console/sessions?done=session_ended', 303)
  })
