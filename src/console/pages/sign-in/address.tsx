import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** Step 1: the email address. */
export function addressPage(
  c: Context<HttpEnv>,
  { next, email = '' }: { next: string; email?: string },
  { mistakes, status } = UNSENT,
) {
  return show(
    c,
    { title: 'Sign in', status },
    <>
      <Head title="Sign in" />
      <p>Enter your email address, and we will send you a sign-in code.</p>
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
        <button type="submit" class="primary">
          Send code
        </button>
      </form>
    </>,
  )
}
