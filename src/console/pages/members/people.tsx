import { rankOf } from '../../../lib/access'
import type { Member } from '../../../members/read'
import { can, pathsOf, type Visit } from '../../page'
import { userOf } from '../../session'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { brief, capital } from '../../ui/format'
import { Email, Time } from '../../ui/parts'
import { rolesUpTo } from '../../ui/roles'
import type { Column } from '../../ui/table'
import { type SentAbout, type Team, works } from './read'

/** The columns of the list of members. */
export function peopleColumns(c: Visit, team: Team, sent: SentAbout | null): Column<Member>[] {
  const { now } = c.get('rt')
  const own = userOf(c)
  return [
    [
      'Member',
      (row) => (
        <>
          <span class="name">
            <Email of={row.email} />
          </span>{' '}
          {row.user_id === own.user_id && <Badge of="you" />}
        </>
      ),
    ],
    [
      'Role',
      (row) => (
        <>
          <RoleOf c={c} row={row} team={team} refused={sent?.at === row.user_id} />
          <BreakGlass c={c} row={row} />
          {sent?.at === row.user_id && <Wrong>{sent.mistakes.form ?? sent.mistakes.role}</Wrong>}
        </>
      ),
    ],
    ['Member since', (row) => <Time at={row.created_at} now={now} />],
    ['Invited by', (row) => <Inviter row={row} team={team} />, 'spare'],
    ['API keys', (row) => <Keys row={row} team={team} now={now} />],
    ['', (row) => <Leaving c={c} row={row} team={team} />],
  ]
}

/** Whether the user may change or remove this member. */
function mayChange(c: Visit, { role }: Member): boolean {
  const own = userOf(c).role
  return own !== null && can(c, 'members:write') && rankOf(role) <= rankOf(own)
}

/** The only owner cannot step down or leave. */
const isOnlyOwner = (c: Visit, { user_id }: Member, { onlyOwner }: Team) => onlyOwner && user_id === userOf(c).user_id

/**
 * The role of a member, as a choice for users who may change it. The button appears once another role is chosen.
 *
 * @param refused whether the page says why the last choice was refused: it opens there
 */
function RoleOf({ c, row, team, refused }: { c: Visit; row: Member; team: Team; refused: boolean }) {
  const own = userOf(c).role
  if (own === null || !mayChange(c, row) || isOnlyOwner(c, row, team)) return <>{capital(row.role)}</>
  return (
    <Post c={c} to={`${pathsOf(c).members}/${row.user_id}/role`} class="role">
      <input type="hidden" name="from" value={row.role} autocomplete="off" />
      <select name="role" aria-label={`Role of ${brief(row.email)}`} autocomplete="off" autofocus={refused}>
        {rolesUpTo(own).map(([value, label]) => (
          <option
            value={value}
            selected={value === row.role}
            data-lower={rankOf(value) < rankOf(row.role) || undefined}
          >
            {label}
          </option>
        ))}
      </select>
      <button type="submit">
        Save<span class="unseen"> role of {brief(row.email)}</span>
      </button>
    </Post>
  )
}

/** Whether an owner may sign in without the single sign-on that is enforced. Owners give and take it. */
function BreakGlass({ c, row }: { c: Visit; row: Member }) {
  if (row.role !== 'owner') return null
  const mark = row.break_glass && <Badge of="break-glass" />
  if (userOf(c).role !== 'owner') return <>{mark}</>
  return (
    <Post c={c} to={`${pathsOf(c).members}/${row.user_id}/break-glass`} class="glass">
      {mark}
      <input type="hidden" name="on" value={String(!row.break_glass)} />
      <button type="submit" class="link">
        {row.break_glass ? 'Remove break-glass access' : 'Give break-glass access'}
        <span class="unseen">
          {' '}
          {row.break_glass ? 'from' : 'to'} {brief(row.email)}
        </span>
      </button>
    </Post>
  )
}

const HOW: Record<Member['source'], string> = {
  creator: 'Created the project',
  invitation: 'An API key',
  sso: 'Single sign-on',
}

function Inviter({ row, team }: { row: Member; team: Team }) {
  if (row.invited_by === null) return <span class="quiet">{HOW[row.source]}</span>
  return <span class="cut">{team.people.get(row.invited_by) ?? 'Unknown user'}</span>
}

/** How many API keys the member created that work. */
function Keys({ row, team, now }: { row: Member; team: Team; now: number }) {
  if (team.keys === null) return <span class="quiet">Not known</span>
  const minted = team.keys.filter((key) => key.created_by === row.user_id && works(key, now)).length
  return <span class={minted === 0 ? 'quiet' : undefined}>{minted || 'None'}</span>
}

function Leaving({ c, row, team }: { c: Visit; row: Member; team: Team }) {
  const { members } = pathsOf(c)
  const own = row.user_id === userOf(c).user_id
  if (isOnlyOwner(c, row, team)) return <span class="quiet text">The only owner cannot leave</span>
  if (!own && !mayChange(c, row)) return null
  return (
    <a class="button" href={own ? `${members}/leave` : `${members}/${row.user_id}/remove`} data-dialog>
      {own ? 'Leave' : 'Remove'}
      <span class="unseen"> {own ? 'the project' : brief(row.email)}</span>
    </a>
  )
}
