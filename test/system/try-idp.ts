import { must } from '../../scripts/lib/api.ts'
import { localProject } from '../../scripts/lib/inbox.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'

const RETURN = 'http://localhost:3000/sso/callback'

/**
 * Signs in customers at the identity provider of `npm start -- --idp`, with the calls of docs/guides/sso-customers.md: a test run of the connection,
 * then two people.
 *
 * @returns what is printed about it
 */
export async function tryIdp(url: string): Promise<string> {
  const { token } = await localSession(url)
  const project = await localProject(url, token)
  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${url}/platform/v1${path}`, { method: 'POST', token, project, ...(json !== undefined && { json }) })
  const connection = await api<{ id: string; callback_url: string }>('/sso/connections', {
    audience: 'customers',
    name: 'Local',
    issuer: 'https://idp.example.com',
    client_id: 'local',
    client_secret: 'local-secret',
    redirect_uris: [RETURN],
    create_consumers: true,
  })
  const run = await api<{ test_id: string; url: string }>(`/sso/connections/${connection.id}/test`)
  await browse(`${run.url}?continue`, 'Ada Lovelace')
  const at = `${url}/platform/v1/sso/connections/${connection.id}/tests/${run.test_id}`
  const tested = await must<{ state: string }>(at, { token, project })
  if (tested.state !== 'passed') throw new Error(`the test is ${JSON.stringify(tested)}`)
  await api(`/sso/connections/${connection.id}/activate`)
  const people: string[] = []
  for (const person of ['Ada Lovelace', 'Grace Hopper', 'Ada Lovelace']) {
    const asked = { connection_id: connection.id, redirect_uri: RETURN, state: 's1' }
    const login = await api<{ url: string }>('/sso/authorize', asked)
    const back = new URL(await browse(login.url, person))
    const code = back.searchParams.get('code')
    if (!back.href.startsWith(RETURN) || !code) throw new Error(`the browser ended at ${back}`)
    type Made = { consumer: { id: string }; identity: { name: string } }
    const made = await api<Made>('/sso/token', { code, redirect_uri: RETURN })
    if (made.identity.name !== person) throw new Error(`${person} was signed in as ${made.identity.name}`)
    people.push(made.consumer.id)
  }
  if (people[0] !== people[2] || people[0] === people[1]) throw new Error(`the consumers are ${people}`)
  return 'a test run passed, and two people signed in, one of them twice'
}

/** Follows a browser's way, and chooses a person where the provider asks. @returns where it would go last */
async function browse(start: string, person: string): Promise<string> {
  const cookies = new Map<string, Map<string, string>>()
  let at = start
  for (let step = 0; step < 20; step++) {
    const { origin } = new URL(at)
    if (at.startsWith(RETURN)) return at
    const jar = cookies.get(origin) ?? new Map<string, string>()
    cookies.set(origin, jar)
    const headers = { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }
    const answer = await fetch(at, { headers, redirect: 'manual' })
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const page = await answer.text()
    const chosen = page.includes('Local identity provider')
      ? new RegExp(`href="([^"]+)">Sign in as ${person}`).exec(page)?.[1]
      : answer.headers.get('Location')
    if (!chosen) return at
    at = new URL(chosen, at).href
  }
  throw new Error(`the browser does not arrive: ${at}`)
}
