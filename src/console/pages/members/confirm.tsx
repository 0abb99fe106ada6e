import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Role } from '../../../lib/access'
import { roleWords } from '../../../lib/access-words'
import type { Invitation } from '../../../members/invitations-store'
import type { Member } from '../../../members/store'
import { pathsOf } from '../../page'
import { userOf } from '../../session'
import { Confirm } from '../../ui/confirm'
import { Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Consequences, MintedKeys } from './consequences'
import type { Affected } from './read'
import type { Refused } from './refusal'

type Of = Affected & { member: Member }

/** What the confirmations have in common: their place in the console, and why one was refused. */
function frame(c: Context<HttpEnv>, title: string, refused: Refused | null = null) {
  const { members } = pathsOf(c)
  return { title, section: 'members', above: ['Members', members], status: refused?.status ?? 200 } as const
}

/** Asks before a member gets a lower role. */
export function demotePage(c: Context<HttpEnv>, of: Of, role: Role) {
  const { members } = pathsOf(c)
  const { member } = of
  const own = member.user_id === userOf(c).user_id
  const fields = { role, from: member.role, sure: 'true' }
  return show(
    c,
    frame(c, 'Change role'),
    <Confirm
      c={c}
      title={own ? `Give up the role ${member.role}?` : `Make ${member.email} ${role}?`}
      to={`${members}/${member.user_id}/role`}
      verb="Change role"
      back={members}
      danger
      choice={Object.entries(fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} autocomplete="off" />
      ))}
    >
      <p>
        {own ? 'You are' : 'The member is'} {member.role} now. The new role takes effect with the next request.
      </p>
      <p>
        <strong>{capital(role)}</strong>: {roleWords(role, 'Can')}
      </p>
      {own && <p>You cannot undo this yourself: somebody else must give you the role again.</p>}
      <Consequences c={c} of={of} kept={role} whose={own ? 'you' : 'they'} />
    </Confirm>,
  )
}

/** Asks before a member is removed. */
export function removePage(c: Context<HttpEnv>, of: Of, refused: Refused | null = null) {
  const { members } = pathsOf(c)
  const { member } = of
  return show(
    c,
    frame(c, 'Remove member', refused),
    <Confirm
      c={c}
      title={`Remove ${member.email}?`}
      to={`${members}/${member.user_id}/remove`}
      verb="Remove member"
      back={members}
      danger
      choice={<MintedKeys c={c} of={of} whose="they" />}
    >
      <p>
        {capital(member.role)} of this project. They lose access immediately. Their other projects are not affected, and
        you can invite them again.
      </p>
      <Consequences c={c} of={of} kept={null} whose="they" />
      <Wrong>{refused?.mistakes.form}</Wrong>
    </Confirm>,
  )
}

/** Asks before the user leaves the project. The only owner is told why that is not possible. */
export function leavePage(c: Context<HttpEnv>, of: Of, refused: Refused | null = null) {
  const { members } = pathsOf(c)
  const { member } = of
  if (member.role === 'owner' && of.alone) return stayPage(c, refused)
  return show(
    c,
    frame(c, 'Leave the project', refused),
    <Confirm
      c={c}
      title="Leave this project?"
      to={`${members}/leave`}
      verb="Leave project"
      back={members}
      danger
      choice={<MintedKeys c={c} of={of} whose="you" />}
    >
      <p>
        You are {member.role} of this project. You lose access immediately, and can come back only if somebody invites
        you again. Your other projects are not affected.
      </p>
      <Consequences c={c} of={of} kept={null} whose="you" />
      <Wrong>{refused?.mistakes.form}</Wrong>
    </Confirm>,
  )
}

function stayPage(c: Context<HttpEnv>, refused: Refused | null) {
  const { members } = pathsOf(c)
  return show(
    c,
    frame(c, 'Leave the project', refused),
    <section id="confirm" class="confirm">
      <Head title="You cannot leave this project" />
      <p>You are its only owner, and a project must have one. Make another member an owner first, then leave.</p>
      <div class="choice">
        <a class="button" href={members} data-close>
          Back to the members
        </a>
      </div>
    </section>,
  )
}

/** Asks before an invitation is revoked. */
export function revokePage(c: Context<HttpEnv>, row: Invitation, refused: Refused | null = null) {
  const { members } = pathsOf(c)
  return show(
    c,
    frame(c, 'Revoke invitation', refused),
    <Confirm
      c={c}
      title={`Revoke the invitation to ${row.email}?`}
      to={`${members}/invitations/${row.id}/revoke`}
      verb="Revoke invitation"
      back={members}
      danger
    >
      <p>
        It offers the role {row.role}. Nobody can accept it once it is revoked. You can invite the address again. The
        person is not told by email.
      </p>
      <Wrong>{refused?.mistakes.form}</Wrong>
    </Confirm>,
  )
}
