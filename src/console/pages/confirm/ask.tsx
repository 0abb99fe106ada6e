import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import { CONFIRMED_FOR } from '../../../sessions/limits'
import { userOf } from '../../session'
import { Confirm } from '../../ui/confirm'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { PasskeyForm } from '../../ui/passkey-form'

/**
 * Says why a confirmation is needed, and offers to send a code, or to use a passkey.
 *
 * @param next the page to return to
 */
export function askPage(c: Context<HttpEnv>, next: string, hasPasskey: boolean) {
  return show(
    c,
    { title: 'Confirm that it is you', passkeys: hasPasskey },
    <>
      <Confirm
        c={c}
        title="Confirm that it is you"
        to="/console/confirm/code"
        verb="Send code"
        back={next}
        choice={<input type="hidden" name="next" value={next} />}
      >
        <p>
          What you are doing has serious consequences, so it needs more than a signed-in browser. Nothing has been
          changed yet.
        </p>
        <p>
          We send a code to <strong>{userOf(c).email}</strong>. After you have entered it, you return to the page where
          you were, and are not asked again for {plural(CONFIRMED_FOR / MINUTE, 'minute')}.
        </p>
      </Confirm>
      {hasPasskey && (
        <section class="second">
          <PasskeyForm
            c={c}
            does="get"
            to="/console/second-factor"
            options="/console/second-factor/options"
            label="Use your passkey instead"
            next={next}
          />
        </section>
      )}
    </>,
  )
}
