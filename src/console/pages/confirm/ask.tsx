import { CONFIRMED_FOR } from '../../../http/limits'
import { MINUTE } from '../../../lib/time'
import { Confirm } from '../../action'
import type { Visit } from '../../page'
import { userOf } from '../../session'
import { CodeField, CodeSent } from '../../ui/code'
import { Post, SubmitOrCancel } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { PasskeyForm } from '../../ui/passkey-form'

/**
 * Says why a confirmation is needed, and offers to send a code, or to use a passkey.
 *
 * @param next the page to return to
 */
export function confirmPage(c: Visit, next: string, hasPasskey: boolean) {
  return show(
    c,
    { title: 'Confirm that it is you', passkeys: hasPasskey },
    <>
      <Confirm
        c={c}
        title="Confirm that it is you"
        above={['Back', next]}
        to="/console/confirm/code"
        verb="Send code"
        choice={<input type="hidden" name="next" value={next} />}
        says={
          <>
            <p>This action has serious consequences, so being signed in is not enough. Nothing has been changed yet.</p>
            <p>
              We send a code to <strong>{userOf(c).email}</strong>. Once you enter it, you return to the page where you
              were. We do not ask again for {plural(CONFIRMED_FOR / MINUTE, 'minute')}.
            </p>
          </>
        }
      />
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

/** Asks for the code that was sent. @param wrong whether the code that was entered did not work */
export function confirmCodePage(c: Visit, { next, challenge }: { next: string; challenge: string }, wrong = false) {
  return show(
    c,
    { title: 'Confirm that it is you', status: wrong ? 401 : 200 },
    <section class="confirm">
      <h1>Enter the code</h1>
      <CodeSent c={c} sent="We have sent a code to" email={userOf(c).email} />
      <Post c={c} to="/console/confirm">
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="challenge" value={challenge} />
        <CodeField wrong={wrong} />
        <SubmitOrCancel label="Confirm" back={next} />
      </Post>
      <Post c={c} to="/console/confirm/code" class="instead">
        <input type="hidden" name="next" value={next} />
        <button type="submit" class="link">
          Send a new code
        </button>
      </Post>
    </section>,
  )
}
