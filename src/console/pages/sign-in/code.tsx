import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { CodeField, CodeSent } from '../../ui/code'
import { show } from '../../ui/layout'
import { Gate } from './gate'

/** Step 2: the code. @param wrong whether the code that was entered did not work */
export function codePage(
  c: Context<HttpEnv>,
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
