import type { AccountEvent } from '../../../accounts/events'
import type { Page } from '../../../http/page'
import { DAY, HOUR } from '../../../lib/time'
import { clientNamed } from '../../../lib/user-agent'
import { SESSION_IDLE, SESSION_MAX } from '../../../sessions/limits'
import type { Session } from '../../../sessions/session'
import type { Visit } from '../../page'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Activity, clientName } from './activity'

/** The list of the user's sessions, and what last happened to the account. */
export function listPage(
  c: Visit,
  { data, next_cursor }: Page<Session>,
  { events, notices }: { events: readonly AccountEvent[]; notices: boolean },
) {
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
        These are the browsers and API clients where you are signed in as {userOf(c).email}. A session ends after{' '}
        {plural(SESSION_IDLE / HOUR, 'hour')} without use, and after {plural(SESSION_MAX / DAY, 'day')} at the latest.
      </p>
      <Table label="Sessions" rows={data} columns={columnsOf(c)} class="keys" />
      <Pager c={c} cursor={next_cursor} />
      <h2>Recent activity</h2>
      <Activity c={c} events={events} />
      <p>
        <a href="/console/sessions/activity">All activity</a>
      </p>
      <h2>Security emails</h2>
      <Post c={c} to="/console/sessions/notices">
        <div class="checks one">
          <label>
            <input type="checkbox" name="notices" value="true" checked={notices} autocomplete="off" /> Send me an email
            when I sign in from a new browser, when an API key is created in my name, and when my passkeys or recovery
            codes change
          </label>
        </div>
        <div class="choice">
          <button type="submit">Save</button>
        </div>
      </Post>
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

function columnsOf(c: Visit): Column<Session>[] {
  const { now } = c.get('rt')
  const { id } = userOf(c)
  return [
    [
      'Client',
      (row) => (
        <>
          <span class="name">{clientName(row.user_agent)}</span> {row.id === id && <Badge of="this session" />}
          {clientNamed(row.user_agent) && <span class="line cut quiet">{row.user_agent}</span>}
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
            <span class="unseen"> session of {clientName(row.user_agent)}</span>
          </button>
        </Post>
      ),
    ],
  ]
}
