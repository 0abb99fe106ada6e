import { Hono } from 'hono'
import { presentConsumer } from '../../consumers/fields'
import { findSurvivor } from '../../consumers/read'
import { run } from '../../db/client'
import { domainOf } from '../../domains/names'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { route } from '../../http/route'
import { body, invalidField } from '../../http/validate'
import { base64url, sha256Hex, utf8 } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { iso } from '../../lib/time'
import { findByEmailDomain, findSsoConnection } from '../connections/connection'
import { mayReturnTo } from '../connections/rules'
import { LOGIN_TTL } from '../limits'
import { loginUrl } from '../login/browser'
import { beginLogin } from '../login/logins'
import { takeCode } from './codes'
import { Authorization, AuthorizeBody, ExchangeBody, type SignedInIdentity, SsoSignIn } from './fields'
import { consumerRefusal, REFUSALS } from './resolve'

const policy = { actors: ['session', 'api_key'], scope: 'sso:use', project: true } as const

/** What a project's server calls to sign its consumers in. */
export const ssoCustomerRoutes = new Hono<HttpEnv>()
  .post(
    '/authorize',
    route({
      id: 'authorizeSso',
      summary: 'Begin the sign-in of a consumer',
      description:
        'Returns the address to send the browser to. After the sign-in, the browser returns to `redirect_uri` with `code` and `state`, or with `error`, `error_description` and `state`.',
      tag: 'Single sign-on',
      policy,
      responses: { 201: { description: 'Where to send the browser.', schema: Authorization } },
      faults: ['not_found', 'connection_inactive', 'public_origin_missing'],
    }),
    body(AuthorizeBody),
    async (c) => {
      const { directory, now } = c.get('rt')
      const { connection_id, email, redirect_uri, state, code_challenge = null, login_hint } = c.req.valid('json')
      const project_id = projectOf(c.get('actor'))
      const [connection] = await run(
        directory,
        connection_id === undefined
          ? findByEmailDomain(directory, project_id, domainOf(email ?? '') ?? '')
          : findSsoConnection(directory, project_id, connection_id),
      )
      if (connection?.audience !== 'customers') throw noConnection(connection_id)
      if (connection.state !== 'active') {
        throw new Fault('connection_inactive', `The connection ${connection.id} is ${connection.state}.`)
      }
      if (!mayReturnTo(connection, redirect_uri)) {
        throw invalidField('/redirect_uri', 'not_one_of', "must be one of the connection's redirect_uris")
      }
      const id = newId('slg', now)
      const url = loginUrl(c, connection, id)
      const login = { id, project_id, connection_id: connection.id, mode: 'customers' as const }
      const about = {
        redirect_to: redirect_uri,
        app_state: state,
        code_challenge,
        login_hint: login_hint ?? email ?? null,
      }
      await beginLogin(directory, { ...login, ...about }, null, now)
      return answer(c, { url, expires_at: iso(now + LOGIN_TTL) }, 201)
    },
  )
  .post(
    '/token',
    route({
      id: 'exchangeSsoCode',
      summary: 'Exchange a code for the consumer who has signed in',
      description:
        'A code works once, within 60 seconds, for the project and the `redirect_uri` that it was issued for, and with the `code_verifier` if there was a `code_challenge`. The `detail` of `invalid_grant` says what is wrong.',
      tag: 'Single sign-on',
      policy,
      responses: { 200: { description: 'Who has signed in.', schema: SsoSignIn } },
      faults: ['invalid_grant'],
    }),
    body(ExchangeBody),
    async (c) => {
      const { directory, db, now } = c.get('rt')
      const { code, redirect_uri, code_verifier } = c.req.valid('json')
      const project_id = projectOf(c.get('actor'))
      const code_challenge = code_verifier === undefined ? null : await challengeOf(code_verifier)
      const given = { hash: await sha256Hex(code), project_id, redirect_uri, code_challenge }
      const { taken, left } = await takeCode(directory, given, now)
      if (!taken) throw badCode(left, redirect_uri, now)
      const [consumer] = await run(db, findSurvivor(db, project_id, taken.consumer_id))
      const refused = consumer ? consumerRefusal(consumer) : 'no_consumer'
      if (!consumer || refused) throw new Fault('invalid_grant', `${refused}: ${REFUSALS[refused ?? 'no_consumer']}`)
      const identity = taken.identity as SignedInIdentity
      return answer(c, { consumer: presentConsumer(consumer), created: taken.created, identity }, 200)
    },
  )

function noConnection(id: string | undefined): Fault {
  return new Fault(
    'not_found',
    id === undefined
      ? 'No connection for customers has the domain of this email address, or the domain is not verified.'
      : 'Connection not found in this project, or it is not for customers.',
  )
}

/** The challenge of a verifier (RFC 7636, section 4.6). */
async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(verifier))))
}

function badCode(left: { expires_at: number; redirect_uri: string } | undefined, sent: string, now: number): Fault {
  if (!left) return new Fault('invalid_grant', 'The code has already been used, or does not belong to this project.')
  if (left.expires_at <= now) return new Fault('invalid_grant', 'The code has expired. Start a new sign-in.')
  return new Fault(
    'invalid_grant',
    left.redirect_uri === sent
      ? 'The code_verifier is missing or does not match the code_challenge.'
      : 'The code was issued for another redirect_uri.',
  )
}
