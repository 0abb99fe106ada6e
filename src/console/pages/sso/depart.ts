import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { SsoConnection } from '../../../sso/connections/connection'
import { clientOf } from '../../../sso/connections/oidc-client'
import { finishCustomers } from '../../../sso/customers/finish'
import { callbackUrl } from '../../../sso/login/browser'
import type { Login } from '../../../sso/login/logins'
import { isUnfinished, SignInRefused, withError } from '../../../sso/login/refused'
import { authorizationUrl } from '../../../sso/oidc/authorize'
import type { Identified, Recorder } from '../../../sso/oidc/oidc-client'
import { deadLoginPage } from './dead'
import { finishTeam, refuseTeam } from './team'
import { testedPage } from './tested'

/** Leads the browser of a login to the provider. */
export async function depart(
  c: Context<HttpEnv>,
  { login, connection }: { login: Login; connection: SsoConnection },
  state: string,
): Promise<Response> {
  const rt = c.get('rt')
  try {
    requireActive(login, connection)
    const asked = { state, redirect_uri: callbackUrl(c, connection), login_hint: login.login_hint }
    return c.redirect(await authorizationUrl(rt, await clientOf(rt, connection), asked), 302)
  } catch (error) {
    if (!isUnfinished(error)) throw error
    return finish(c, login, connection, async () => {
      throw error
    })
  }
}

/** Ends a login, with somebody signed in or not: where to go from here depends on what it was for. */
export async function finish(
  c: Context<HttpEnv>,
  login: Login,
  connection: SsoConnection,
  identified: (record?: Recorder) => Promise<Identified>,
): Promise<Response> {
  // An address that is no longer registered gets nothing, errors neither.
  if (login.mode === 'customers' && !connection.settings.redirect_uris.includes(login.redirect_to)) {
    return deadLoginPage(c)
  }
  if (login.mode === 'test') return testedPage(c, { login, connection, identify: identified })
  try {
    requireActive(login, connection)
    const finishing = { login, connection, identified: await identified() }
    return login.mode === 'team' ? await finishTeam(c, finishing) : await finishCustomers(c, finishing)
  } catch (error) {
    if (!isUnfinished(error)) throw error
    c.get('log').sso_refused = error.reason
    return login.mode === 'team' ? refuseTeam(c, login, error) : c.redirect(withError(login, error), 303)
  }
}

/** A test run signs nobody in, so its connection need not be active. */
function requireActive({ mode }: Login, { state }: SsoConnection): void {
  if (mode === 'test' || state === 'active') return
  throw new SignInRefused('connection_inactive', 'The connection for this sign-in is not active.')
}
