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
import { clientOf } from './client'

/** The list of the user's sessions. */
export function listPage(c: Context<HttpEnv>, { data, next_cursor }: Page<Session>) {
  return show(
    c,
    { title: 'Sessions', section: 'sessions' },
    <>
      <Head title="Sessions">
        <a class="button danger" href="/console/sessions/end-all" data-dialog>
          Sign out everywhere
        </a>
      </Head>
      <p class="quiet">
        These are the browsers and API clients where you are signed in as {userOf(c).email}. A session ends{' '}
        {plural(SESSION_IDLE / HOUR, 'hour')} after its last use, and {plural(SESSION_MAX / DAY, 'day')} after its start
        at the latest.
      </p>
      <Table label="Sessions" rows={data} columns={columnsOf(c)} class="keys" />
      <Pager c={c} cursor={next_cursor} />
      <h2>Delete your account</h2>
      <p class="quiet">You leave all projects, and your address is removed. This cannot be undone.</p>
      <p>
        <a class="button danger" href="/console/sessions/erase" data-dialog>
          Delete my account
        </a>
      </p>
    </>,
  )
}

function columnsOf(c: Context<HttpEnv>): Column<Session>[] {
  const { now } = c.get('rt')
  const { id } = userOf(c)
  const name = (row: Session) => clientOf(row.user_agent) ?? row.user_agent ?? 'Unknown client'
  return [
    [
      'Client',
      (row) => (
        <>
          <span class="name">{name(row)}</span> {row.id === id && <Badge of="this session" />}
          {clientOf(row.user_agent) && <span class="line cut quiet">{row.user_agent}</span>}
        </>
      ),
    ],
    ['Signed in', (row) => <Time at={row.created_at} now={now} />],
    ['Last used', (row) => <Time at={row.last_used_at} now={now} />],
    ['Ends', (row) => <Time at={row.expires_at} now={now} />],
    [
      '',
      (row) => (
        <Post c={c} to={`/console/sessions/${row.id}/end`}>
          <button type="submit">
            {row.id === id ? 'Sign out' : 'End'}
            <span class="unseen"> session of {name(row)}</span>
          </button>
        </Post>
      ),
    ],
  ]
}
