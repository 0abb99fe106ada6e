import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Mistakes } from '../../form'
import { userOf } from '../../session'
import { Confirm } from '../../ui/confirm'
import { Field, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'

/** Asks for the address of the user before the account is deleted. */
export function erasePage(c: Context<HttpEnv>, mistakes: Mistakes = {}, status: 200 | 409 | 422 = 200) {
  const { email } = userOf(c)
  return show(
    c,
    { title: 'Delete my account', section: 'sessions', above: ['Sessions', '/console/sessions'], status },
    <Confirm
      c={c}
      title="Delete your account?"
      to="/console/sessions/erase"
      verb="Delete my account"
      back="/console/sessions"
      danger
      choice={
        <>
          <div class="checks one">
            <label>
              <input type="checkbox" name="revoke_keys" value="true" autocomplete="off" /> Revoke the API keys that I
              created, or whose secret I was given
            </label>
          </div>
          <Field
            name="email"
            label="Type your email address to delete your account"
            required
            hint={email}
            mistakes={mistakes}
          />
        </>
      }
    >
      <ul>
        <li>You leave all projects, and all your sessions end.</li>
        <li>A deleted project without another owner can no longer be restored.</li>
        <li>Pending invitations to you are declined.</li>
        <li>Your address is removed. Audit logs keep your user ID.</li>
        <li>API keys that you created keep working, unless you revoke them.</li>
      </ul>
      <p>This cannot be undone. You can sign up again with the same address, as a new user without these projects.</p>
      <Wrong>{mistakes.form}</Wrong>
    </Confirm>,
  )
}
