import type { PropsWithChildren } from 'hono/jsx'
import type { Visit } from '../../page'
import { UNSENT } from '../../refusal'
import { CodeField, CodeSent } from '../../ui/code'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { PasskeyForm } from '../../ui/passkey-form'

/** Step 1: the email address, or a passkey. @param refused why a passkey or single sign-on did not sign in */
export function addressPage(
  c: Visit,
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
      <p class="quiet">Enter your email address. We email you a sign-in code. There are no passwords.</p>
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

/** The layout of pages outside the frame: the name of the service, and a panel with one task. */
export function Gate({ title, children }: PropsWithChildren<{ title: string }>) {
  return (
    <div class="gate">
      <p class="brand">Platform API</p>
      <section class="panel-card">
        <h1>{title}</h1>
        {children}
      </section>
    </div>
  )
}

/** Step 2: the code. @param wrong whether the code that was entered did not work */
export function signInCodePage(
  c: Visit,
  { next, email, challenge }: { next: string; email: string; challenge: string },
  wrong = false,
) {
  return show(
    c,
    { title: 'Enter the code', status: wrong ? 401 : 200 },
    <Gate title="Enter the code">
      <CodeSent c={c} sent="If this address can sign in, we have sent a code to" email={email} />
      <form method="post" action="/console/sign-in/code">
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="email" value={email} />
        <input type="hidden" name="challenge" value={challenge} />
        <CodeField wrong={wrong} />
        <button type="submit" class="primary wide">
          Sign in
        </button>
      </form>
      <form method="post" action="/console/sign-in" class="instead">
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="email" value={email} />
        <button type="submit" class="link">
          Send a new code
        </button>
        <a href={`/console/sign-in?next=${encodeURIComponent(next)}`}>Use another address</a>
      </form>
    </Gate>,
  )
}
