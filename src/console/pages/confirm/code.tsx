import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { userOf } from '../../session'
import { CodeField, CodeSent } from '../../ui/code'
import { Post, SubmitOrCancel } from '../../ui/controls'
import { show } from '../../ui/layout'

/** Asks for the code that was sent. @param wrong whether the code that was entered did not work */
export function codePage(c: Context<HttpEnv>, { next, challenge }: { next: string; challenge: string }, wrong = false) {
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
