import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import type { Session } from '../../../sessions/store'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Post } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

/** Where the user is signed in. */
export function listPage(c: Context<HttpEnv>, { data, next_cursor }: Page<Session>) {
  return show(
    c,
    { title: 'Sessions' },
    <>
      <Head title="Sessions" />
      <p>
        Where you are signed in, by browser or by API. A session ends 12 hours after its last use, and after 7 days.
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
          <span class="cut">{row.user_agent ?? 'Unknown'}</span> {row.id === id && <Badge of="this session" />}
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
            End<span class="unseen"> session of {row.user_agent ?? 'unknown client'}</span>
          </button>
        </Post>
      ),
    ],
  ]
}
