import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../refusal'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { PasskeyForm } from '../../ui/passkey-form'
import { Gate } from './gate'

/** Step 1: the email address, or a passkey. @param refused why a passkey or single sign-on did not sign in */
export function addressPage(
  c: Context<HttpEnv>,
  { next, email = '', refused }: { next: string; email?: string; refused?: string },
  { mistakes, status } = UNSENT,
) {
  return show(
    c,
    { title: 'Sign in', status: refused ? 401 : status, passkeys: true },
    <Gate title="Sign in">
      {refused && (
        <p class="warning" role="alert">
          {refused}
        </p>
      )}
      {next.startsWith('/console/invitations/') && (
        <p>
          <strong>You are invited to a project.</strong> Sign in with the address that the invitation was sent to.
        </p>
      )}
      <p class="quiet">Enter your email address. We send you a code to sign in with; there are no passwords.</p>
      <form method="post" action="/console/sign-in">
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="Email address"
          type="email"
          value={email}
          autocomplete="email"
          required
          autofocus
          mistakes={mistakes}
        />
        <button type="submit" class="primary wide">
          Send code
        </button>
      </form>
      <PasskeyForm
        c={c}
        does="get"
        to="/console/sign-in/passkey"
        options="/console/sign-in/passkey/options"
        label="Sign in with a passkey"
        next={next}
      >
        <p class="or">or</p>
      </PasskeyForm>
    </Gate>,
  )
}
