import { type Context, Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { limitSignIn } from '../../../sessions/sign-in'
import { clientOf } from '../../../sso/connections/client'
import type { SsoConnection } from '../../../sso/connections/store'
import { finishCustomers } from '../../../sso/customers/finish'
import { callbackUrl } from '../../../sso/login/address'
import { bindBrowser, returned } from '../../../sso/login/browser'
import { withError } from '../../../sso/login/customers-error'
import { type Login, openLogin, takeLogin } from '../../../sso/login/logins-store'
import { isUnfinished, SignInRefused } from '../../../sso/login/refused'
import { authorizationUrl } from '../../../sso/oidc/authorize'
import type { Identified, Recorder } from '../../../sso/oidc/client'
import { identify } from '../../../sso/oidc/identify'
import { page } from '../../page'
import { deadLoginPage } from './dead'
import { finishTeam, refuseTeam } from './team'
import { testedPage } from './tested'

/** What browsers pass on the way to a provider and back. Nobody is signed in yet. */
export const ssoPages = new Hono<HttpEnv>()
  .get('/login/:login_id', page('anyone'), async (c) => {
    await limitSignIn(c)
    const rt = c.get('rt')
    const { state, bound } = await bindBrowser(c)
    const opened = await openLogin(rt.directory, c.req.param('login_id'), bound, rt.now)
    if (!opened) return deadLoginPage(c)
    return depart(c, opened, state)
  })
  .get('/callback/:connection_id', page('anyone'), async (c) => {
    await limitSignIn(c)
    const rt = c.get('rt')
    const back = await returned(c)
    if (!back) return deadLoginPage(c)
    const { login, connection } = await takeLogin(rt.directory, c.req.param('connection_id'), back.bound, rt.now)
    if (!login || !connection) return deadLoginPage(c)
    const asked = { state: back.state, redirect_uri: callbackUrl(c, connection), callback: new URL(c.req.url) }
    return finish(c, login, connection, async (record) => identify(rt, await clientOf(rt, connection), asked, record))
  })

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
async function finish(
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
