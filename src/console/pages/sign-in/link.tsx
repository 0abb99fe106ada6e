import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'

/** The page that the link of a sign-in mail opens: its button signs in. */
export function linkPage(c: Context<HttpEnv>, { challenge, code }: { challenge: string; code: string }) {
  return show(
    c,
    { title: 'Sign in' },
    <>
      <Head title="Sign in" />
      <p>You asked to sign in with your e-mail address. If you did not, close this page.</p>
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

/** What a link leads to that does not sign in. */
export function deadLinkPage(c: Context<HttpEnv>) {
  return show(
    c,
    { title: 'Sign in', status: 401 },
    <>
      <Head title="This link no longer works" />
      <p>It is spent, expired or cut short. A link is good once, for ten minutes.</p>
      <a class="button primary" href="/console/sign-in">
        Ask for a new one
      </a>
    </>,
  )
}
