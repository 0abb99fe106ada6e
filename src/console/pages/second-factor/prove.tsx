import type { Visit } from '../../page'
import { Field, Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { NoPasskeys, PasskeyForm } from '../../ui/passkey-form'

type Shown = { next: string; refused?: string; mistakes?: Record<string, string> }

/** Asks for a passkey or a recovery code. @param shown.refused why a passkey was not accepted */
export function provePage(c: Visit, { next, refused, mistakes }: Shown) {
  return show(
    c,
    { title: 'Use your passkey', status: refused || mistakes ? 401 : 200, passkeys: true },
    <section class="second">
      <h1>Use your passkey</h1>
      <p>
        You signed in with an emailed code, but this page also needs your passkey. You use it once per session, and then
        return to where you were.
      </p>
      <NoPasskeys />
      <Wrong>{refused}</Wrong>
      <PasskeyForm
        c={c}
        does="get"
        to="/console/second-factor"
        options="/console/second-factor/options"
        label="Use your passkey"
        next={next}
        primary
      />
      <h2>If you have lost your passkey</h2>
      <Post c={c} to="/console/second-factor/code">
        <input type="hidden" name="next" value={next} />
        <Field
          name="code"
          label="Recovery code"
          maxlength={40}
          required
          hint="24 letters and digits; older codes have 10. Each code works once."
          mistakes={mistakes}
        />
        <button type="submit" class="wide">
          Use the recovery code
        </button>
      </Post>
      <p class="quiet">
        If you have no recovery code either, another owner of the project can stop requiring passkeys.
      </p>
    </section>,
  )
}

/** For a user who has no passkey. */
export function addFirstPage(c: Visit, next: string) {
  return show(
    c,
    { title: 'Add a passkey' },
    <section class="second">
      <h1>Add a passkey</h1>
      <p>
        The project requires a passkey for admins and owners, and you have none yet. Adding one takes a minute. Then you
        return to where you were.
      </p>
      <p>
        <a class="button primary" href={`/console/passkeys/new?next=${encodeURIComponent(next)}`}>
          Add a passkey
        </a>
      </p>
    </section>,
  )
}
