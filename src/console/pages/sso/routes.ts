import { type Context, Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { limitSignIn } from '../../../sessions/sign-in'
import { clientOf } from '../../../sso/connections/client'
import type { SsoConnection } from '../../../sso/connections/store'
import { callbackUrl } from '../../../sso/login/address'
import { bindBrowser, returned } from '../../../sso/login/browser'
import { type Login, openLogin, takeLogin } from '../../../sso/login/logins-store'
import { identify } from '../../../sso/oidc/identify'
import { page } from '../../page'
import { deadLoginPage } from './dead'
import { depart, finish } from './depart'

/** What browsers pass on the way to a provider and back. Nobody is signed in yet. */
export const ssoPages = new Hono<HttpEnv>()
  .get('/login/:login_id', page('anyone'), async (c) => {
    await limitSignIn(c)
    const rt = c.get('rt')
    const { state, bound } = await bindBrowser(c)
    const opened = await openLogin(rt.directory, c.req.param('login_id'), bound, rt.now)
    if (!opened || !isServedHere(c, opened.login, opened.connection)) return deadLoginPage(c)
    return depart(c, opened, state)
  })
  .get('/callback/:connection_id', page('anyone'), async (c) => {
    await limitSignIn(c)
    const rt = c.get('rt')
    const back = await returned(c)
    if (!back) return deadLoginPage(c)
    const { login, connection } = await takeLogin(rt.directory, c.req.param('connection_id'), back.bound, rt.now)
    if (!login || !connection || !isServedHere(c, login, connection)) return deadLoginPage(c)
    const asked = { state: back.state, redirect_uri: callbackUrl(c, connection), callback: new URL(c.req.url) }
    return finish(c, login, connection, async (record) => identify(rt, await clientOf(rt, connection), asked, record))
  })

/** A project's own host serves the sign-ins of its own customers alone, and the test runs of its connections. */
function isServedHere(c: Context<HttpEnv>, { mode }: Login, { project_id }: SsoConnection): boolean {
  const surface = c.get('surface')
  return surface === null || (mode !== 'team' && surface.project_id === project_id)
}
