import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { Finishing, Login } from '../../../sso/login/logins'
import { noted, type Onward } from '../../../sso/login/protocol'
import { isUnfinished, type Unfinished } from '../../../sso/login/refused'
import { signInWithSso } from '../../../sso/team/sign-in'
import { browserOf, keepBrowser } from '../../browser'
import { localPath } from '../../lead'
import { keepSession, visitorOf } from '../../session'
import { beginTestPage, deadLoginPage } from './stops'
import { testedPage } from './tested'

/** The page, or the session of the console, that a login has come to. */
export function goOn(c: Context<HttpEnv>, onward: Onward): Response | Promise<Response> {
  if (onward instanceof Response) return onward
  switch (onward.to) {
    case 'dead':
      return deadLoginPage(c)
    case 'ask':
      return beginTestPage(c, onward)
    case 'tested':
      return testedPage(c, onward)
    case 'team':
      return finishTeam(c, onward.finishing)
    case 'refused':
      return refuseTeam(c, onward.login, onward.error)
  }
}

/** Signs a member of the team in to the console. */
async function finishTeam(c: Context<HttpEnv>, finishing: Finishing): Promise<Response> {
  const before = await visitorOf(c)
  const browser = browserOf(c)
  const { agreed_by } = finishing.login
  try {
    const token = await signInWithSso(c, finishing, {
      browser,
      replaces: before?.id ?? null,
      proved: before?.confirmed && before.sso === null && agreed_by === before.user_id ? agreed_by : null,
    })
    keepSession(c, token)
  } catch (error) {
    if (!isUnfinished(error)) throw error
    return refuseTeam(c, finishing.login, noted(c, error))
  }
  keepBrowser(c, browser)
  return c.redirect(localPath(c, finishing.login.redirect_to), 303)
}

/** Leads to the page for signing in, with the reason of a refusal. The page has words for it. */
function refuseTeam(c: Context<HttpEnv>, { redirect_to }: Login, { reason }: Unfinished): Response {
  return c.redirect(`/console/sign-in?${new URLSearchParams({ refused: reason, next: redirect_to })}`, 303)
}
