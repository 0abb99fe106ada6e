import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { UNSENT } from '../../form'
import { Field } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** The first step: the address that a code is sent to. */
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
      <p>We send you a code. There is no password to remember.</p>
      <form method="post" action="/console/sign-in">
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="E-mail address"
          type="email"
          value={email}
          autocomplete="email"
          required
          autofocus
          mistakes={mistakes}
        />
        <button type="submit" class="primary">
          Send the code
        </button>
      </form>
    </>,
  )
}
