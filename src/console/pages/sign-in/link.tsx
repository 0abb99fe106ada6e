import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import { CODE_TTL } from '../../../sessions/limits'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** The page that the link in a sign-in email opens. Its button signs in. */
export function linkPage(c: Context<HttpEnv>, { challenge, code }: { challenge: string; code: string }) {
  return show(
    c,
    { title: 'Sign in' },
    <>
      <Head title="Sign in" />
      <p>Select “Sign in” to continue. If you did not ask to sign in, close this page.</p>
      <form method="post" action="/auth/sign-in">
        <input type="hidden" name="challenge" value={challenge} />
        <input type="hidden" name="code" value={code} />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </>,
  )
}

/** The page for a link that cannot sign in. */
export function deadLinkPage(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'Sign in', status: 401 },
    <>
      <Head title="This link no longer works" />
      <p>
        The link has expired, was already used, or is incomplete. A link works once, and for{' '}
        {plural(CODE_TTL / MINUTE, 'minute')}.
      </p>
      <a class="button primary" href="/console/sign-in">
        Request a new link
      </a>
    </>,
  )
}
