import { MINUTE } from '../../../lib/time'
import { CODE_TTL } from '../../../sessions/limits'
import type { Redeemed } from '../../../sessions/sign-in'
import type { Visit } from '../../page'
import type { SignedIn } from '../../session'
import { plural, stopAfter } from '../../ui/format'
import { show } from '../../ui/layout'
import { Gate } from './address'

/**
 * The page that the link in a sign-in email opens. Its button signs in. The page says to whose account, because anyone
 * can send a link of their own, and asks before the button replaces a session.
 *
 * @param present the user that this browser is signed in as; null if nobody is
 */
export function signInLinkPage(c: Visit, link: Redeemed & { email: string }, present: SignedIn | null) {
  return show(
    c,
    { title: 'Sign in' },
    <Gate title="Sign in">
      <p>
        This link signs you in as <strong>{link.email}</strong>. If this is not your address, or you did not try to sign
        in, close this page.
      </p>
      {present && <Replacing present={present} email={link.email} />}
      <form method="post" action="/auth/sign-in">
        <input type="hidden" name="challenge" value={link.challenge} />
        <input type="hidden" name="code" value={link.code} />
        {present && <input type="hidden" name="replaces" value={present.id} />}
        <button type="submit" class="primary wide">
          {present ? 'End that session and sign in' : 'Sign in'}
        </button>
      </form>
      {present && (
        <p>
          <a href="/console">Stay signed in as {present.email}</a>
        </p>
      )}
    </Gate>,
  )
}

function Replacing({ present, email }: { present: SignedIn; email: string }) {
  return (
    <p class="warning" role="note">
      This browser is already signed in {present.email === email ? 'with this address' : `as ${present.email}`}. Signing
      in ends that session.
    </p>
  )
}

/** The page for a link that cannot sign in. */
export function deadLinkPage(c: Visit) {
  return show(
    c,
    { title: 'Sign in', status: 401 },
    <Gate title="This link no longer works">
      <p>
        The link has expired, was already used, or is incomplete. A link works once, within{' '}
        {plural(CODE_TTL / MINUTE, 'minute')}, unless a newer one has signed you in.
      </p>
      <a class="button primary wide" href="/console/sign-in">
        Request a new link
      </a>
    </Gate>,
  )
}

type Connection = { name: string; client_id: string }

/** The page after signing out of a session from single sign-on. The session at the provider is another one: a link ends it too. */
export function signedOutPage(c: Visit, { name, client_id }: Connection, endpoint: string) {
  const url = new URL(endpoint)
  url.searchParams.set('client_id', client_id)
  c.set('actor', undefined as never)
  return show(
    c,
    { title: 'Signed out' },
    <Gate title="Signed out">
      <p>
        You are signed out here. You may still be signed in at {name}
        {stopAfter(name)}
      </p>
      <a class="button primary wide" href={url.href}>
        Sign out of {name} too
      </a>
      <p>
        <a href="/console/sign-in">Sign in again</a>
      </p>
    </Gate>,
  )
}
