import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { Confirm } from '../../ui/confirm'
import { show } from '../../ui/layout'

/** Asks before all sessions of the user end. */
export function endAllPage(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'Sign out everywhere', section: 'sessions', above: ['Sessions', '/console/sessions'] },
    <Confirm
      c={c}
      title="Sign out everywhere?"
      to="/console/sessions/end-all"
      verb="End sessions"
      back="/console/sessions"
      danger
      choice={
        <div class="checks one">
          <label>
            <input type="checkbox" name="here" value="true" autocomplete="off" /> Sign out of this browser too
          </label>
        </div>
      }
    >
      <p>
        All your other sessions end immediately, in every browser and API client. You can sign in again with a new code.
      </p>
      <p>API keys keep working. If one has leaked, revoke it in its project.</p>
    </Confirm>,
  )
}
