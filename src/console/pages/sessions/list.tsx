import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import { DAY, HOUR } from '../../../lib/time'
import { SESSION_IDLE, SESSION_MAX } from '../../../sessions/limits'
import type { Session } from '../../../sessions/store'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

/** The list of the user's sessions. */
export function listPage(c: Context<HttpEnv>, { data, next_cursor }: Page<Session>) {
  return show(
    c,
    { title: 'Sessions' },
    <>
      <Head title="Sessions" />
      <p>
        These are your active sessions, in browsers and API clients. A session expires after{' '}
        {plural(SESSION_IDLE / HOUR, 'hour')} without use, and after {plural(SESSION_MAX / DAY, 'day')} in any case.
      </p>
      <Table label="Sessions" rows={data} columns={columnsOf(c)} />
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}

function columnsOf(c: Context<HttpEnv>): Column<Session>[] {
  const { now } = c.get('rt')
  const { id } = userOf(c)
  return [
    [
      'Client',
      (row) => (
        <>
          <span class="cut">{row.user_agent ?? 'Unknown client'}</span> {row.id === id && <Badge of="this session" />}
        </>
      ),
    ],
    ['Signed in', (row) => <Time at={row.created_at} now={now} />],
    ['Last used', (row) => <Time at={row.last_used_at} now={now} />],
    ['Expires', (row) => <Time at={row.expires_at} now={now} />],
    [
      '',
      (row) => (
        <Post c={c} to={`/console/sessions/${row.id}/end`}>
          <button type="submit">
            End<span class="unseen"> session of {row.user_agent ?? 'unknown client'}</span>
          </button>
        </Post>
      ),
    ],
  ]
}
