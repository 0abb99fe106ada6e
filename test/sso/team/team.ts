import { addMember, browse, call, freshProject, newHost, ORIGIN, type RequestOptions, setHost } from '../../harness'
import type { Faults } from '../../outside/faulty'
import { insertDomain, passTest } from '../rows'

export const CONNECTIONS = '/platform/v1/sso/connections'

export type Team = Awaited<ReturnType<typeof team>>

type Owned = { project: string; owner: { user: string; email: string; token: string } }

/**
 * A project with an active connection for its team, at a provider of its own, and with a verified domain of its own.
 *
 * @param of a new project by default; one that has such a connection gets another one
 */
export async function team(fields: Record<string, unknown> = {}, of?: Owned) {
  const { project, owner } = of ?? (await freshProject())
  const host = newHost('faulty.dev')
  const domain = `${host.split('.')[0]}.dev`
  const domainId = await insertDomain(project, domain)
  const connection = await connect(project, owner.token, host, {
    domain_ids: [domainId],
    default_role: 'developer',
    ...fields,
  })
  await activate(project, owner.token, connection.id)
  return { project, owner, host, domain, domainId, connection: connection.id as string }
}

/** A draft connection. */
export async function connect(project: string, token: string, host: string, fields: Record<string, unknown> = {}) {
  const json = {
    audience: 'team',
    name: 'Acme',
    issuer: `https://${host}`,
    client_id: 'rp',
    client_secret: 's3cret',
    ...fields,
  }
  const { status, body } = await call(CONNECTIONS, { method: 'POST', project, token, json })
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body
}

export async function activate(project: string, token: string, id: string) {
  await passTest(id)
  const { status, body } = await call(`${CONNECTIONS}/${id}/activate`, { method: 'POST', project, token })
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
}

/** Who signs in at a provider: claims of its ID token. */
export type Person = { sub: string; email?: string | null; email_verified?: boolean; sid?: string }

/** Has a provider sign somebody in from now on. */
export async function account(host: string, { sub, ...claims }: Person, faults: Faults = {}) {
  const all = { sub, email_verified: true, ...claims }
  await setHost(host, {
    ...faults,
    claims: { ...all, ...faults.claims },
    userinfo: { ...all, email: claims.email ?? null },
  })
}

/** The cookies that an answer sets, as a browser sends them back. */
export function cookiesOf(headers: Headers): Record<string, string> {
  const pairs = headers.getSetCookie().map((line) => line.split(';')[0]?.split('=') ?? [])
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]))
}

const cookieHeader = (jar: Record<string, string>) =>
  Object.entries(jar)
    .map((pair) => pair.join('='))
    .join('; ')

/** Begins a sign-in in a browser with these cookies. @returns the address at the provider, and the cookies then */
export async function start(query: string, jar: Record<string, string> = {}, options: RequestOptions = {}) {
  // As from a page of the console.
  const headers = { Cookie: cookieHeader(jar), 'Sec-Fetch-Site': 'same-origin' }
  const answer = await call(`/auth/sso/start?${query}`, { headers, ...options })
  return { answer, url: answer.headers.get('Location') ?? '', jar: { ...jar, ...cookiesOf(answer.headers) } }
}

/** Comes back from the provider to the callback address. */
export function comeBack(url: URL, jar: Record<string, string>, options: RequestOptions = {}) {
  return call(url.pathname + url.search, { headers: { Cookie: cookieHeader(jar) }, ...options })
}

/** Signs in from beginning to end. @returns where it leads, and the session's token, if there is one */
export async function signIn(
  { host, connection }: Pick<Team, 'host' | 'connection'>,
  person: Person,
  { query = `connection=${connection}`, jar = {}, faults = {} as Faults, options = {} as RequestOptions } = {},
) {
  await account(host, person, faults)
  const asked = await start(query, jar, options)
  // An owner agrees first.
  const agree = /href="([^"]*agree=\w+)"/.exec(asked.answer.text)?.[1]?.replaceAll('&amp;', '&')
  const begun = agree ? await start(agree.split('?')[1] ?? '', asked.jar, options) : asked
  const back = await browse(begun.url, new URL(ORIGIN).hostname)
  const answer = await comeBack(back, begun.jar, options)
  const token = cookiesOf(answer.headers)['__Host-session'] ?? null
  return { answer, location: answer.headers.get('Location'), token, back, jar: begun.jar }
}

/** A member who signs in with single sign-on. */
export async function ssoMember(of: Team, name = 'ada') {
  const email = `${name}@${of.domain}`
  const { token, location } = await signIn(of, { sub: name, email })
  if (!token) throw new Error(`not signed in: ${location}`)
  const { body } = await call('/auth/sessions/current', { token })
  return { token, user: body.user.id as string, email, session: body.session.id as string }
}

/** An owner who has linked single sign-on in the browser in which they had proved who they are. */
export async function ssoOwner(of: Team, name = 'boss') {
  const email = `${name}@${of.domain}`
  const { user, token: proof } = await addMember(of.project, 'owner', email)
  const { token, location } = await signIn(of, { sub: name, email }, { jar: { '__Host-session': proof } })
  if (!token) throw new Error(`not signed in: ${location}`)
  const { body } = await call('/auth/sessions/current', { token })
  return { token, user, email, session: body.session.id as string }
}

/** The owner of a project, signed in with its connection, with break-glass access for their code session. */
export async function enforced(fields: Record<string, unknown> = {}) {
  const of = await team(fields)
  const { project, owner, connection } = of
  const sso = await ssoOwner(of)
  const glass = await call(`/platform/v1/members/${owner.user}/break-glass`, {
    method: 'PUT',
    project,
    token: owner.token,
  })
  const set = await call(`${CONNECTIONS}/${connection}`, {
    method: 'PATCH',
    project,
    token: sso.token,
    json: { enforce: true },
  })
  if (glass.status !== 204 || set.status !== 200) throw new Error(`${glass.text} ${set.text}`)
  return { ...of, sso }
}
