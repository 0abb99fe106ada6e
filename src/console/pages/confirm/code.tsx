import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import { CODE_TTL } from '../../../sessions/limits'
import { userOf } from '../../session'
import { Field, Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'

/** Asks for the code that was sent. @param wrong whether the code that was entered did not work */
export function codePage(c: Context<HttpEnv>, { next, challenge }: { next: string; challenge: string }, wrong = false) {
  const printed = c.get('rt').settings.signInDelivery === 'log'
  return show(
    c,
    { title: 'Confirm that it is you', status: wrong ? 401 : 200 },
    <section class="confirm">
      <h1>Enter the code</h1>
      <p>
        {printed ? 'The server printed a code in its terminal for ' : 'We have sent a code to '}
        <strong>{userOf(c).email}</strong>. The code is valid for {plural(CODE_TTL / MINUTE, 'minute')}.
      </p>
      <Post c={c} to="/console/confirm">
        <input type="hidden" name="next" value={next} />
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
        <div class="choice">
          <button type="submit" class="primary">
            Confirm
          </button>
          <a class="button" href={next}>
            Cancel
          </a>
        </div>
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
