import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { startPath } from '../../../tenancy/reach'
import { show } from '../../ui/layout'
import { Gate } from '../sign-in/address'

type Choice = {
  email: string
  next: string
  connections: readonly { id: string; name: string }[]
  /** Who is signed in in this browser already. */
  signedIn?: string | undefined
}

/**
 * Which single sign-on to continue with, or a code instead. It depends on the domain of the address alone. Without an address,
 * a link has led here, and it asks only whether to continue. These are links, because the policy of our pages lets no form lead to another site.
 */
export function choicePage(c: Context<HttpEnv>, { email, next, connections, signedIn }: Choice) {
  return show(
    c,
    { title: 'Sign in' },
    <Gate title="Sign in">
      {email === '' ? (
        <p class="quiet">A link from elsewhere sent you here. Continue only if you want to sign in.</p>
      ) : (
        <p>
          Sign in as <strong>{email}</strong> with single sign-on, or with a code.
        </p>
      )}
      {signedIn && (
        <p class="warning" role="note">
          This browser is signed in as {signedIn}. Signing in ends that session.
        </p>
      )}
      {connections.map(({ id, name }) => (
        <a class="button primary wide" href={startPath(id, next)}>
          Continue to {name}
        </a>
      ))}
      <form method="post" action="/console/sign-in" class="instead">
        <input type="hidden" name="next" value={next} />
        <input type="hidden" name="email" value={email} />
        <input type="hidden" name="code" value="true" />
        {email !== '' && (
          <button type="submit" class="link">
            Send a code instead
          </button>
        )}
        <a href={`/console/sign-in?next=${encodeURIComponent(next)}`}>Use another address</a>
      </form>
    </Gate>,
  )
}
