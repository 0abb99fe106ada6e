import type { Child } from 'hono/jsx'
import { roleWords } from '../../../lib/access-words'
import { invitationState } from '../../../members/invitations'
import type { OwnInvitation } from '../../../members/own-invitations'
import type { Visit } from '../../page'
import type { UNSENT } from '../../refusal'
import { userOf } from '../../session'
import { Post, Wrong } from '../../ui/controls'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { ExactTime, Fact, Head } from '../../ui/parts'
import { Answers, inviterOf } from './own'

/** Why an invitation can no longer be accepted. */
const ENDED: Record<string, string> = {
  accepted:
    'You have already accepted this invitation. If you have since left the project or were removed, you need a new one.',
  declined: 'You declined this invitation. If you want to join after all, ask for a new one.',
  revoked: 'This invitation was revoked. Ask the person who invited you for a new one.',
  expired: 'This invitation has expired. Ask the person who invited you to send it again.',
}

const frame = { title: 'Invitation', section: 'projects', above: ['Projects', '/console'] } as const

/** One invitation to the signed-in address. Its email links to this page. */
export function invitationPage(c: Visit, row: OwnInvitation, { mistakes, status }: typeof UNSENT) {
  const { now } = c.get('rt')
  const state = invitationState(row, now)
  return show(
    c,
    { ...frame, status },
    <>
      <Head title={`Invitation to ${row.project_name}`} />
      <Wrong>{mistakes.form}</Wrong>
      <dl class="facts">
        <Fact name="Role">
          {capital(row.role)} <span class="hint">{roleWords(row.role, 'Can')}</span>
        </Fact>
        <Fact name="Invited by">{inviterOf(row)}</Fact>
        <Fact name="Invited address">{userOf(c).email}</Fact>
        <Fact name={state === 'expired' ? 'Expired' : 'Expires'}>
          <ExactTime at={row.expires_at} now={now} />
        </Fact>
      </dl>
      {state === 'pending' ? (
        <div class="choice">
          <Answers c={c} row={row} />
        </div>
      ) : (
        <Ended>{ENDED[state]}</Ended>
      )}
    </>,
  )
}

function Ended({ children }: { children?: Child }) {
  return (
    <>
      <p class="warning" role="note">
        {children}
      </p>
      <p>
        <a class="button" href="/console">
          Go to your projects
        </a>
      </p>
    </>
  )
}

/** The page of an invitation that is not to the signed-in address, or does not exist: the two look alike. */
export function notYoursPage(c: Visit) {
  return show(
    c,
    { ...frame, status: 404 },
    <section class="empty">
      <h1>No such invitation for your address</h1>
      <p>
        You are signed in as <strong>{userOf(c).email}</strong>. Only the address that an invitation was sent to can see
        it. If yours went to another address, sign out, and open the link in the email again.
      </p>
      <Post c={c} to="/console/sign-out">
        <div class="choice">
          <button type="submit" class="primary">
            Sign out
          </button>
          <a class="button" href="/console">
            Go to your projects
          </a>
        </div>
      </Post>
    </section>,
  )
}
