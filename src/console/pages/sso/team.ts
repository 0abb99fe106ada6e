import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Finishing, Login } from '../../../sso/login/logins'
import type { Unfinished } from '../../../sso/login/refused'
import { signInWithSso } from '../../../sso/team/sign-in'
import { browserOf, keepBrowser } from '../../browser'
import { localPath } from '../../local-path'
import { keepSession, visitorOf } from '../../session'

/** Signs a member of the team in to the console. @throws {SignInRefused} if they may not */
export async function finishTeam(c: Context<HttpEnv>, finishing: Finishing): Promise<Response> {
  const before = await visitorOf(c)
  const browser = browserOf(c)
  const token = await signInWithSso(c, finishing, {
    browser,
    replaces: before?.id ?? null,
    proved: before?.confirmed && before.sso === null ? before.user_id : null,
  })
  keepSession(c, token)
  keepBrowser(c, browser)
  return c.redirect(localPath(c, finishing.login.redirect_to), 303)
}

/** Leads to the page for signing in, with the reason of a refusal. The page has words for it. */
export function refuseTeam(c: Context<HttpEnv>, { redirect_to }: Login, { reason }: Unfinished): Response {
  return c.redirect(`/console/sign-in?${new URLSearchParams({ refused: reason, next: redirect_to })}`, 303)
}
