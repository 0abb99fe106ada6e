import type { Context } from 'hono'
import type { HttpEnv } from '../../http/context'
import { limitSteps } from '../../sessions/sign-in'
import type { SsoConnection } from '../connections/connection'
import { oidcClientOf } from '../connections/oidc-client'
import { mayReturnTo } from '../connections/rules'
import { finishCustomers } from '../customers/finish'
import { authorizationUrl } from '../oidc/authorize'
import { identify } from '../oidc/identify'
import type { Identified, Recorder } from '../oidc/oidc-client'
import { finishTest } from '../test-runs/finish'
import type { TestResult } from '../test-runs/test-run'
import { ASKED, bindBrowser, callbackUrl, returned } from './browser'
import { type Finishing, type Login, openLogin, takeLogin } from './logins'
import { isUnfinished, SignInRefused, type Unfinished, withError } from './refused'

type Of = { login: Login; connection: SsoConnection }

/**
 * Where a browser goes from here: to another address, or to something that has a page or a session of the console.
 * `dead`: there is no such login, or it is another browser's. `ask`: the link of a test run, which begins with a click.
 * `tested`: a test run has ended, and is null if newer ones have taken its place. `team`: somebody signs in to the console.
 * `refused`: they may not.
 */
export type Onward =
  | Response
  | { to: 'dead' }
  | { to: 'ask'; connection: SsoConnection }
  | (Of & { to: 'tested'; result: TestResult | null })
  | { to: 'team'; finishing: Finishing }
  | { to: 'refused'; login: Login; error: Unfinished }

const DEAD = { to: 'dead' } as const

/** Opens the link of a login in a browser, and leads it to the provider. @throws {Fault} `rate_limited` */
export async function openLink(c: Context<HttpEnv>, id: string): Promise<Onward> {
  await limitSteps(c)
  const rt = c.get('rt')
  const { state, bound } = await bindBrowser(c)
  const found = await openLogin(rt.directory, { id, asked: c.req.query(ASKED) !== undefined }, bound, rt.now)
  if (!found || !isServedHere(c, found)) return DEAD
  return found.opened ? depart(c, found, state) : { to: 'ask', connection: found.connection }
}

/** Ends the login that a browser comes back from. @throws {Fault} `rate_limited` */
export async function comeBack(c: Context<HttpEnv>, connectionId: string): Promise<Onward> {
  await limitSteps(c)
  const rt = c.get('rt')
  const back = await returned(c)
  if (!back) return DEAD
  const { login, connection } = await takeLogin(rt.directory, connectionId, back.bound, rt.now)
  if (!login || !connection || !isServedHere(c, { login, connection })) return DEAD
  const asked = { state: back.state, redirect_uri: callbackUrl(c, connection), callback: new URL(c.req.url) }
  return finish(c, { login, connection }, async (record) =>
    identify(rt, await oidcClientOf(rt, connection), asked, record),
  )
}

/** Leads the browser of a login to the provider. */
export async function depart(c: Context<HttpEnv>, { login, connection }: Of, state: string): Promise<Onward> {
  const rt = c.get('rt')
  try {
    requireActive(login, connection)
    const asked = { state, redirect_uri: callbackUrl(c, connection), login_hint: login.login_hint }
    return c.redirect(await authorizationUrl(rt, await oidcClientOf(rt, connection), asked), 302)
  } catch (error) {
    if (!isUnfinished(error)) throw error
    return finish(c, { login, connection }, async () => {
      throw error
    })
  }
}

/** Ends a login, with somebody signed in or not: where to go from here depends on what it was for. */
async function finish(
  c: Context<HttpEnv>,
  { login, connection }: Of,
  identified: (record?: Recorder) => Promise<Identified>,
): Promise<Onward> {
  // An address that is no longer registered gets nothing, errors neither.
  if (login.mode === 'customers' && !mayReturnTo(connection, login.redirect_to)) return DEAD
  if (login.mode === 'test') {
    const result = await finishTest(c.get('rt'), { login, connection, identify: identified }, c.get('requestId'))
    return { to: 'tested', login, connection, result }
  }
  try {
    requireActive(login, connection)
    const finishing = { login, connection, identified: await identified() }
    return login.mode === 'team' ? { to: 'team', finishing } : await finishCustomers(c, finishing)
  } catch (error) {
    if (!isUnfinished(error)) throw error
    return login.mode === 'team'
      ? { to: 'refused', login, error: noted(c, error) }
      : c.redirect(withError(login, noted(c, error)), 303)
  }
}

/** Logs why somebody was not signed in. */
export function noted<T extends Unfinished>(c: Context<HttpEnv>, error: T): T {
  c.get('log').sso_refused = error.reason
  return error
}

/** A test run signs nobody in, so its connection need not be active. */
function requireActive({ mode }: Login, { state }: SsoConnection): void {
  if (mode === 'test' || state === 'active') return
  throw new SignInRefused('connection_inactive', 'The connection for this sign-in is not active.')
}

/** A project's own host serves the sign-ins of its own customers alone, and the test runs of its connections. */
function isServedHere(c: Context<HttpEnv>, { login, connection }: Of): boolean {
  const surface = c.get('surface')
  return surface === null || (login.mode !== 'team' && surface.project_id === connection.project_id)
}
