import { type Context, Hono } from 'hono'
import { addressOf } from '../../../http/address'
import type { HttpEnv } from '../../../http/context'
import { limit } from '../../../http/rate-limit'
import type { SsoConnection } from '../../../sso/connections/connection'
import { clientOf } from '../../../sso/connections/oidc-client'
import { ASKED, bindBrowser, callbackUrl, returned } from '../../../sso/login/browser'
import { type Login, openLogin, takeLogin } from '../../../sso/login/logins'
import { identify } from '../../../sso/oidc/identify'
import { page } from '../../page'
import { beginTestPage } from './begin-test'
import { deadLoginPage } from './dead'
import { depart, finish } from './depart'

/** What browsers pass on the way to a provider and back. Nobody is signed in yet. HEAD uses nothing up. */
export const ssoPages = new Hono<HttpEnv>()
  .get('/login/:login_id', page('anyone'), async (c) => {
    if (c.req.method === 'HEAD') return c.body(null)
    await limitBrowsers(c)
    const rt = c.get('rt')
    const { state, bound } = await bindBrowser(c)
    const asked = { id: c.req.param('login_id'), asked: c.req.query(ASKED) !== undefined }
    const found = await openLogin(rt.directory, asked, bound, rt.now)
    if (!found || !isServedHere(c, found.login, found.connection)) return deadLoginPage(c)
    return found.opened ? depart(c, found, state) : beginTestPage(c, found)
  })
  .get('/callback/:connection_id', page('anyone'), async (c) => {
    if (c.req.method === 'HEAD') return c.body(null)
    await limitBrowsers(c)
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

/**
 * A whole office signs in from one address, with two requests each. Nothing can be guessed here, so the limit is wider than
 * that of codes.
 */
function limitBrowsers(c: Context<HttpEnv>): Promise<void> {
  return limit(c.get('rt').limits, 'public', addressOf(c), 'Too many sign-ins from this address.')
}
