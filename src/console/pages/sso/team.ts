import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Finishing } from '../../../sso/login/finishing'
import type { Login } from '../../../sso/login/logins-store'
import { SignInRefused, type Unfinished } from '../../../sso/login/refused'

/** Signs a member of the team in to the console. @throws {SignInRefused} if they may not */
export async function finishTeam(_c: Context<HttpEnv>, _: Finishing): Promise<Response> {
  throw new SignInRefused('not_supported', 'Single sign-on for the team is not here yet.')
}

/** Leads to the page for signing in, with the reason of a refusal. The page has words for it. */
export function refuseTeam(c: Context<HttpEnv>, { redirect_to }: Login, { reason }: Unfinished): Response {
  return c.redirect(`/console/sign-in?${new URLSearchParams({ refused: reason, next: redirect_to })}`, 303)
}
