import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Agreement } from '../../../sso/team/agreement'
import { startPath } from '../../../tenancy/reach'
import { show } from '../../ui/layout'
import { Gate } from '../sign-in/address'

type Choice = {
  email: string
  next: string
  connections: readonly { id: string; issuer: string }[]
  /** Who is signed in in this browser already. */
  signedIn?: string | undefined
}

/**
 * Which single sign-on to continue with, or a code instead. It depends on the domain of the address alone. Anybody can type an
 * address, so it names the providers' hosts, to which the links lead anyway, and never a connection or a project. Without an address,
 * a link has led here, and it asks only whether to continue. These are links, because the policy of our pages lets no form lead to another site.
 */
export function choicePage(c: Context<HttpEnv>, { email, next, connections, signedIn }: Choice) {
  return show(
    c,
    { title: 'Sign in' },
    <Gate title="Sign in">
      {email === '' ? (
        <p class="quiet">A link on another site brought you here. Continue only if you want to sign in.</p>
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
      {connections.map(({ id, issuer }, at) => (
        <a class="button primary wide" href={startPath(id, next)}>
          Continue to {hostOf(issuer)}
          {connections.slice(0, at).some((other) => hostOf(other.issuer) === hostOf(issuer)) && ` (${at + 1})`}
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

const hostOf = (issuer: string) => new URL(issuer).hostname

/** What an owner agrees to, before a connection is linked to their account. @param to where the link leads that agrees */
export function agreementPage(
  c: Context<HttpEnv>,
  { name, issuer }: { name: string; issuer: string },
  { project, set_up_by }: Agreement,
  to: string,
) {
  return show(
    c,
    { title: 'Link single sign-on' },
    <Gate title="Link single sign-on to your account?">
      <p>
        You are an owner of “{project}”. The connection “{name}” of this project was set up by{' '}
        <strong>{set_up_by ?? 'an API key, or someone who has deleted their account'}</strong>. It leads to{' '}
        <strong>{hostOf(issuer)}</strong>.
      </p>
      <p class="warning" role="note">
        The people who manage this provider can then sign in as you at any time, with all the rights of a project owner,
        and without your code or your passkey. Continue only if you trust them with that.
      </p>
      <a class="button primary wide" href={to}>
        Link my account, and continue
      </a>
      <a class="button wide" href="/console">
        Cancel
      </a>
    </Gate>,
  )
}
