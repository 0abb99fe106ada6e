import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** The second step: the code. @param wrong whether one was sent that does not sign in */
export function codePage(
  c: Context<HttpEnv>,
  { next, email, challenge }: { next: string; email: string; challenge: string },
  wrong = false,
) {
  const printed = c.get('rt').settings.signInDelivery === 'log'
  return show(
    c,
    { title: 'Enter the code', status: wrong ? 401 : 200 },
    <>
      <Head title="Enter the code" />
      <p>
        {printed ? 'This server prints the code in its terminal' : 'If it can sign in here, a code is on its way to'}
        {printed ? ', for ' : ' '}
        <strong>{email}</strong>. It is good for ten minutes.
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
          mistakes={wrong ? { code: 'The code is wrong, spent or expired.' } : {}}
        />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p>
        <a href={`/console/sign-in?next=${encodeURIComponent(next)}`}>Send a new code</a>
      </p>
    </>,
  )
}
