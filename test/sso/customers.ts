import type * as z from 'zod'
import { openRuntime } from '../../src/env'
import type { ConnectionSettings } from '../../src/identities/values'
import { newId } from '../../src/lib/ids'
import { seal } from '../../src/lib/seal'
import { DAY } from '../../src/lib/time'
import { secretContext } from '../../src/sso/connections/oidc-client'
import type { SsoSignIn } from '../../src/sso/customers/fields'
import { as } from '../consumers/consumers'
import { bound, browse, call, DIRECTORY, freshKey, newHost, ORIGIN, type RequestOptions, setHost } from '../harness'

export const SSO = '/platform/v1/sso'
/** Where the application of a customer gets codes. */
export const APP = 'https://app.acme.dev/sso/callback?from=us'

/** Of our client at the providers of the tests. */
export const CLIENT_SECRET = 's3cret'

/** What a provider says about somebody. */
export type Person = {
  subject: string
  email?: string
  email_verified?: boolean
  name?: string
  [claim: string]: unknown
}

/** What the exchange of a code returns. */
export type SignedIn = z.infer<typeof SsoSignIn>

type Fields = {
  audience?: 'team' | 'customers'
  state?: 'draft' | 'active' | 'disabled'
  settings?: Partial<ConnectionSettings>
  /** A provider of test/outside/. */
  provider?: 'mock.dev' | 'certified.dev' | 'faulty.dev'
  /** Email domains of the connection, all verified. */
  domains?: string[]
}

/** An active connection for customers, as the calls and a passed test run would leave it. */
export async function newConnection(project: string, fields: Fields = {}) {
  const { audience = 'customers', state = 'active', domains = [], provider = 'mock.dev' } = fields
  const [now, id] = [Date.now(), newId('sso', Date.now())]
  const host = newHost(provider)
  const issuer = `https://${host}`
  await setHost(host, { redirect_uris: [callbackOf(id)] })
  const settings: ConnectionSettings = {
    scopes: ['openid', 'email', 'profile'],
    claims: { email: 'email', name: 'name' },
    default_role: null,
    create_consumers: true,
    redirect_uris: [APP],
    surface_id: null,
    ...fields.settings,
  }
  const { encryptionKeys } = openRuntime(bound, { waitUntil: () => {} }).settings
  const secret = await seal(encryptionKeys, CLIENT_SECRET, secretContext({ project_id: project, id }))
  await DIRECTORY.prepare(
    `INSERT INTO sso_connections (project_id, id, audience, name, issuer, client_id, secret, auth_method, settings, state, revision,
      tested_revision, tested_at, created_by, created_at) VALUES (?, ?, ?, 'Acme', ?, 'rp', ?, 'client_secret_basic', ?, ?, 1, 1, 1, 'usr_x', ?)`,
  )
    .bind(project, id, audience, issuer, JSON.stringify(secret), JSON.stringify(settings), state, now)
    .run()
  for (const hostname of domains) {
    const domain = await verifiedDomain(project, hostname)
    await DIRECTORY.prepare('INSERT INTO sso_connection_domains VALUES (?, ?, ?, ?)')
      .bind(project, domain, audience, id)
      .run()
  }
  return { id, issuer }
}

/** A domain that the project has proven, as a check would leave it. */
export async function verifiedDomain(project: string, hostname: string, purpose: 'sso' | 'surface' = 'sso') {
  const [now, id] = [Date.now(), newId('dom', Date.now())]
  await DIRECTORY.prepare(
    `INSERT INTO domains (project_id, id, hostname, purpose, state, state_since, token, next_check_at, created_by, created_at,
      version) VALUES (?1, ?2, ?3, ?4, 'verified', ?5, 'token', ?6, 'usr_x', ?5, 1)`,
  )
    // Not due while the tests run: the cron would look it up.
    .bind(project, id, hostname, purpose, now, now + 30 * DAY)
    .run()
  return id
}

/** A domain that nobody else in the tests has. */
export const newDomain = () => newHost('mail.dev')

/** A project with a connection for customers, and what its server, a browser and the provider do. */
export async function customersWorld(fields: Fields = {}) {
  const { project, secret, owner } = await freshKey()
  const connection = await newConnection(project, fields)
  const ask = (path: string, json: object, options: RequestOptions = {}) =>
    call(`${SSO}${path}`, { method: 'POST', project, token: secret, json, ...options })
  const authorize = (json: object = {}, options?: RequestOptions) =>
    ask('/authorize', { connection_id: connection.id, redirect_uri: APP, state: 'st-1', ...json }, options)
  const token = (code: string, json: object = {}, options?: RequestOptions) =>
    ask('/token', { code, redirect_uri: APP, ...json }, options)
  /** A whole sign-in up to the application: the parameters that it gets. */
  const arrive = async (person: Person, json: object = {}) => {
    const { body } = await authorize(json)
    return arrived(await comeBack(await open(body.url), person))
  }
  /** A whole sign-in: what the project's server learns. */
  const exchange = async (code = '') => (await token(code)).body as unknown as SignedIn
  const signIn = async (person: Person) => exchange((await arrive(person)).code)
  return {
    project,
    secret,
    owner,
    connection,
    authorize,
    token,
    exchange,
    arrive,
    signIn,
    consumers: as(project, secret),
  }
}

/** A browser that has opened the link of a login, and is at the provider. */
export async function open(url: string, cookie = ''): Promise<{ cookie: string; provider: URL }> {
  const { status, headers, text } = await call(url, { headers: { Cookie: cookie } })
  // The link of a test run asks whether to continue.
  if (status === 200 && text.includes('href="?continue"')) return open(`${url}?continue`, cookie)
  if (status !== 302) throw new Error(`the link answered ${status}: ${text.slice(0, 500)} ${headers.get('Location')}`)
  return {
    cookie: headers.get('Set-Cookie')?.split(';')[0] ?? '',
    provider: new URL(headers.get('Location') ?? ''),
  }
}
export type AtProvider = Awaited<ReturnType<typeof open>>

/** Signs a person in at the provider. @returns the address that the provider sends the browser to */
export async function authenticate({ provider }: AtProvider, { subject, ...claims }: Person): Promise<URL> {
  await setHost(provider.host, {
    redirect_uris: [provider.searchParams.get('redirect_uri')],
    account: { sub: subject, ...claims },
  })
  return browse(provider.href, new URL(ORIGIN).hostname)
}

/** Comes back from the provider with a person who has signed in there. */
export async function comeBack(at: AtProvider, person: Person, options: RequestOptions = {}) {
  return call((await authenticate(at, person)).href, { headers: { Cookie: at.cookie }, ...options })
}

/** What the application gets from a browser that is sent to it. */
export function arrived({ status, headers, text }: { status: number; headers: Headers; text: string }) {
  const location = headers.get('Location')
  if (status !== 303 || !location?.startsWith(APP)) throw new Error(`${status} ${location}: ${text.slice(0, 500)}`)
  const url = new URL(location)
  return Object.fromEntries(url.searchParams) as {
    code?: string
    state?: string
    error?: string
    error_description?: string
  }
}

/** The callback of a connection. */
export const callbackOf = (id: string) => `${ORIGIN}/sso/callback/${id}`
