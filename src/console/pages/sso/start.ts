import { type Context, Hono } from 'hono'
import { run } from '../../../db/client'
import { domainOf } from '../../../domains/names'
import type { Runtime } from '../../../env'
import type { HttpEnv } from '../../../http/context'
import { publicOrigin, requirePublicOrigin } from '../../../http/origin'
import { equalBytes, utf8 } from '../../../lib/crypto'
import { limitSteps } from '../../../sessions/sign-in'
import { findSsoConnectionById, type SsoConnection } from '../../../sso/connections/connection'
import { elsewhere } from '../../../sso/login/browser'
import { MAX_CLAIMED_EMAIL } from '../../../sso/oidc/limits'
import { agreementOf, findAgreement } from '../../../sso/team/agreement'
import { beginTeamLogin } from '../../../sso/team/begin'
import { connectionsFor } from '../../../sso/team/routing'
import { startPath } from '../../../tenancy/reach'
import { localPath } from '../../lead'
import { page } from '../../page'
import { type SignedIn, visitorOf } from '../../session'
import { agreementPage, choicePage } from './choice'
import { goOn } from './onward'

/** Begins a sign-in of the team: with a connection, or with those that have the domain of an email address. */
export const ssoStartPages = new Hono<HttpEnv>().get('/start', page('anyone'), async (c) => {
  if (c.req.method === 'HEAD') return c.body(null)
  await limitSteps(c)
  requirePublicOrigin(c)
  const away = elsewhere(c, publicOrigin(c) ?? '')
  if (away !== null) return c.redirect(away, 302)
  const { connection, email: typed = '' } = c.req.query()
  const email = typed.length > MAX_CLAIMED_EMAIL ? '' : typed
  const next = localPath(c, c.req.query('next'))
  if (connection !== undefined) return begin(c, connection, next, null)
  const { directory } = c.get('rt')
  const found = await run(directory, connectionsFor(directory, domainOf(email) ?? ''))
  const [only] = found
  if (only && found.length === 1) return begin(c, only.id, next, email)
  if (only) return choicePage(c, { email, next, connections: found, signedIn: (await visitorFromElsewhere(c))?.email })
  return c.redirect(`/console/sign-in?${new URLSearchParams({ email, next })}`, 303)
})

async function begin(c: Context<HttpEnv>, id: string, next: string, login_hint: string | null): Promise<Response> {
  const rt = c.get('rt')
  const [connection] = await run(rt.directory, findSsoConnectionById(rt.directory, id))
  if (connection?.audience !== 'team' || connection.state !== 'active') {
    return c.redirect(`/console/sign-in?${new URLSearchParams({ refused: 'connection_inactive', next })}`, 303)
  }
  const visitor = await visitorOf(c)
  // A link from elsewhere must not sign anybody in, or end the session that is there, without asking.
  const from = originOfVisit(c)
  if ((visitor && from !== 'ours') || from === 'elsewhere') {
    return choicePage(c, { email: login_hint ?? '', next, connections: [connection], signedIn: visitor?.email })
  }
  const agreement = visitor && (await agreementOf(rt, visitor.id, id))
  const agreed = agreement !== null && equalBytes(utf8(agreement), utf8(c.req.query('agree') ?? ''))
  const asked = visitor && !agreed ? await mustAgree(rt, connection, visitor) : undefined
  if (asked) return agreementPage(c, connection, asked, `${startPath(id, next)}&agree=${agreement}`)
  const agreed_by = visitor && agreed ? visitor.user_id : null
  return goOn(c, await beginTeamLogin(c, connection, { redirect_to: next, login_hint, agreed_by }))
}

/**
 * What the visitor must agree to first: an owner of the connection's project whose session proves it, because somebody else may
 * manage the provider. Nothing for anybody else.
 */
async function mustAgree({ directory }: Runtime, connection: SsoConnection, { confirmed, sso, user_id }: SignedIn) {
  if (!confirmed || sso !== null) return undefined
  return (await run(directory, findAgreement(directory, connection, user_id)))[0]
}

/** The user who is signed in here. Not asked for if the link is on one of our own pages, because they chose to leave it. */
async function visitorFromElsewhere(c: Context<HttpEnv>): Promise<SignedIn | null> {
  return originOfVisit(c) === 'ours' ? null : visitorOf(c)
}

/** Where the link is: on our own pages, on another site, or on no page, if the address was typed or opened from an email. */
function originOfVisit(c: Context<HttpEnv>): 'ours' | 'elsewhere' | 'no page' {
  const site = c.req.header('Sec-Fetch-Site') ?? siteOfReferer(c)
  if (site === 'none') return 'no page'
  return site === 'same-origin' ? 'ours' : 'elsewhere'
}

/**
 * For browsers that do not send `Sec-Fetch-Site`. Another site cannot make a browser send our own address as the `Referer`. But
 * it can make it send none, as if the address had been typed.
 */
function siteOfReferer(c: Context<HttpEnv>): 'same-origin' | 'cross-site' | 'none' {
  const before = c.req.header('Referer')
  if (!before) return 'none'
  return URL.parse(before)?.origin === new URL(c.req.url).origin ? 'same-origin' : 'cross-site'
}
