import type { AccountEvent } from '../../../accounts/events'
import { EVENTS_KEPT } from '../../../accounts/limits'
import type { EventType } from '../../../accounts/schema'
import type { Page } from '../../../http/page'
import { countryName } from '../../../lib/country'
import { DAY } from '../../../lib/time'
import { clientNamed } from '../../../lib/user-agent'
import type { Visit } from '../../page'
import { userOf } from '../../session'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

/** Failed attempts, of which a row can have several. */
const WRONG = { sign_in_failed: 'wrong code', recovery_code_failed: 'wrong recovery code' } as const

const WORDS: Record<Exclude<EventType, keyof typeof WRONG>, string> = {
  sign_in: 'Signed in with a code',
  sso_sign_in: 'Signed in with single sign-on',
  passkey_sign_in: 'Signed in with a passkey',
  sign_out: 'Signed out',
  session_ended: 'Ended a session',
  session_exposed: 'A session was ended because its token was exposed',
  signed_out_everywhere: 'Signed out everywhere',
  confirmed: 'Confirmed with a code',
  passkey_used: 'Confirmed with a passkey',
  recovery_code_used: 'Used a recovery code',
  passkey_added: 'Added a passkey',
  passkey_renamed: 'Renamed a passkey',
  passkey_deleted: 'Deleted a passkey',
  recovery_codes_made: 'Generated recovery codes',
  notices_on: 'Turned security emails on',
  notices_off: 'Turned security emails off',
}

/** All that is kept of what happened to the user's account. */
export function activityPage(c: Visit, { data, next_cursor }: Page<AccountEvent>) {
  return show(
    c,
    { title: 'Account activity', section: 'sessions', above: ['Sessions', '/console/sessions'] },
    <>
      <Head title="Account activity" />
      <p class="quiet">
        Activity on the account {userOf(c).email} in the last {plural(EVENTS_KEPT / DAY, 'day')}. Anyone can enter a
        wrong code for your address, so wrong codes are grouped by hour, with the client of the last one. Wrong recovery
        codes were entered in one of your own sessions.
      </p>
      <Activity c={c} events={data} />
      <Pager c={c} cursor={next_cursor} />
    </>,
  )
}

/** What to call the client with a user agent. */
export function clientName(userAgent: string | null): string {
  return clientNamed(userAgent) ?? userAgent ?? 'Unknown client'
}

/** Events of the user's account. */
export function Activity({ c, events }: { c: Visit; events: readonly AccountEvent[] }) {
  if (events.length === 0) return <p class="quiet">No activity yet.</p>
  // A row of wrong codes is listed by its hour, and shows the time of the last one.
  const rows = events.toSorted((a, b) => b.at - a.at)
  return <Table label="Account activity" rows={rows} columns={columnsOf(c)} class="keys" />
}

function columnsOf(c: Visit): Column<AccountEvent>[] {
  const { now } = c.get('rt')
  return [
    ['What', (row) => <span class="name">{whatOf(row)}</span>],
    [
      'Client',
      (row) => (
        <span class="cut" title={row.user_agent ?? undefined}>
          {clientName(row.user_agent)}
        </span>
      ),
    ],
    ['Country', (row) => (row.country === null ? <span class="quiet">Unknown</span> : countryName(row.country))],
    ['When', (row) => <Time at={row.at} now={now} />],
  ]
}

function whatOf({ type, count }: AccountEvent): string {
  return type === 'sign_in_failed' || type === 'recovery_code_failed' ? plural(count, WRONG[type]) : WORDS[type]
}
