import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { ROLES } from '../../../lib/access'
import { roleWords } from '../../../lib/access-words'
import { isPrinted } from '../../../mail/deliver'
import { MAX_EMAIL, OPEN_DAYS } from '../../../members/limits'
import { pathsOf } from '../../page'
import type { Mistakes } from '../../refusal'
import { userOf } from '../../session'
import { Field, Post, Select, Wrong } from '../../ui/controls'
import { capital, plural } from '../../ui/format'
import { rolesUpTo } from '../../ui/roles'

/** What the form was filled in with. */
export type Entered = { email: string; role: string; days: string }
/** The form as it is opened. */
export const BLANK: Entered = { email: '', role: 'developer', days: String(OPEN_DAYS) }

/** For how many days an invitation can be open. */
const DAYS = [1, 3, 7, 14, 30]

/** The form that invites an address. */
export function InviteForm({ c, entered, mistakes }: { c: Context<HttpEnv>; entered: Entered; mistakes: Mistakes }) {
  const own = userOf(c).role ?? 'viewer'
  const days = DAYS.map((n) => [String(n), plural(n, 'day')] as const)
  return (
    <section id="invite" aria-labelledby="invite-title">
      <h2 id="invite-title">Invite somebody</h2>
      <p class="quiet">
        {isPrinted(c) ? (
          <>
            This server runs on your own machine and sends no email: the terminal of <code>npm start</code> shows the
            link. To accept, they sign in with the address that you invite.
          </>
        ) : (
          'They get an email, and accept by signing in with the address that you invite. The email contains no secret, so forwarding it does no harm.'
        )}
      </p>
      <Post c={c} to={`${pathsOf(c).members}/invitations`} class="invite once">
        <Wrong>{mistakes.form}</Wrong>
        <div class="invite-fields">
          <Field
            name="email"
            label="Email address"
            type="email"
            value={entered.email}
            required
            maxlength={MAX_EMAIL}
            autofocus={Object.keys(mistakes).length > 0}
            mistakes={mistakes}
          />
          <Field name="role" label="Role" mistakes={mistakes}>
            <Select name="role" value={entered.role} options={rolesUpTo(own)} />
          </Field>
          <Field name="expires_in_days" label="Open for" mistakes={mistakes}>
            <Select name="expires_in_days" value={entered.days} options={days} />
          </Field>
          <div class="field actions">
            <button type="submit" class="primary">
              Send invitation
            </button>
          </div>
        </div>
      </Post>
    </section>
  )
}

/** What each role may do. */
export function RolesExplained() {
  return (
    <details class="about-roles">
      <summary>What each role may do</summary>
      <dl>
        {ROLES.map((role) => (
          <div>
            <dt>{capital(role)}</dt>
            <dd>{roleWords(role, 'Can')}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
