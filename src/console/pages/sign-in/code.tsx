import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import { CODE_TTL } from '../../../sessions/limits'
import { Field } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Gate } from './gate'

/** Step 2: the code. @param wrong whether the code that was entered did not work */
export function codePage(
  c: Context<HttpEnv>,
  { next, email, challenge }: { next: string; email: string; challenge: string },
  wrong = false,
) {
  const printed = c.get('rt').settings.signInDelivery === 'log'
  return show(
    c,
    { title: 'Enter the code', status: wrong ? 401 : 200 },
    <Gate title="Enter the code">
      <p>
        {printed
          ? 'The server printed a code in its terminal for '
          : 'If this address can sign in, we have sent a code to '}
        <strong>{email}</strong>. The code is valid for {plural(CODE_TTL / MINUTE, 'minute')}.
      </p>
      <form method="post" action="/console/sign-in/code">
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="email" value={email} />
        <input type="hidden" name="challenge" value={challenge} />
        <Field
          name="code"
          label="Code"
          autocomplete="one-time-code"
          maxlength={20}
          required
          autofocus
          hint="8 letters and digits. Case, spaces and dashes do not matter."
          mistakes={wrong ? { code: 'This code is incorrect, has expired, or was already used.' } : {}}
        />
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
