import { spawn } from 'node:child_process'
import { must } from '../../scripts/lib/api.ts'
import { localProject } from '../../scripts/lib/inbox.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'
import { sleep } from '../../scripts/lib/terminal.ts'
import { freePort } from './server.ts'
import { SSO_PROGRAM } from './try-guide.ts'

const READY_WITHIN_MS = 10_000

/**
 * Signs in customers at the identity provider of `npm start -- --idp`, as docs/guides/sso-customers.md says: a test run of the connection, then
 * two people, with the program of that page.
 *
 * @param folder where the program is, beside the installed client
 * @returns what is printed about it
 */
export async function tryIdp(url: string, folder: string): Promise<string> {
  const { token } = await localSession(url)
  const project = await localProject(url, token)
  const port = await freePort()
  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${url}/platform/v1${path}`, { method: 'POST', token, project, ...(json !== undefined && { json }) })
  const connection = await api<{ id: string }>('/sso/connections', {
    audience: 'customers',
    name: 'Local',
    issuer: 'https://idp.example.com',
    client_id: 'local',
    client_secret: 'local-secret',
    redirect_uris: [`http://localhost:${port}/sso/callback`],
    create_consumers: true,
  })
  const run = await api<{ test_id: string; url: string }>(`/sso/connections/${connection.id}/test`)
  await browse(`${run.url}?continue`, 'Ada Lovelace')
  const at = `${url}/platform/v1/sso/connections/${connection.id}/tests/${run.test_id}`
  const tested = await must<{ state: string }>(at, { token, project })
  if (tested.state !== 'passed') throw new Error(`the test is ${JSON.stringify(tested)}`)
  await api(`/sso/connections/${connection.id}/activate`)
  const env = { ...process.env, API_URL: url, API_KEY: token, PROJECT_ID: project, SSO: connection.id, PORT: `${port}` }
  const program = spawn(process.execPath, [SSO_PROGRAM], { cwd: folder, env, stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    const people = await signInAll(`http://localhost:${port}`)
    if (people[0] !== people[2] || people[0] === people[1]) throw new Error(`the consumers are ${people}`)
  } finally {
    program.kill()
  }
  return 'a test run passed, and two people signed in, one of them twice'
}

/** @returns the consumers that two people became, one of them twice */
async function signInAll(product: string): Promise<string[]> {
  await answers(product)
  const people: string[] = []
  for (const person of ['Ada Lovelace', 'Grace Hopper', 'Ada Lovelace']) {
    const said = await browse(`${product}/login`, person)
    const [, consumer] = new RegExp(`^Hello ${person}, you are (csm_\\w+)\\.$`).exec(said) ?? []
    if (consumer === undefined) throw new Error(`the product said: ${said}`)
    people.push(consumer)
  }
  const forged = await fetch(`${product}/sso/callback?code=x&state=y`, { headers: { Cookie: 'state=z' } })
  if (forged.status !== 403) throw new Error(`a sign-in that was begun elsewhere got ${forged.status}`)
  return people
}

/** Waits until a server answers. */
async function answers(at: string): Promise<void> {
  for (const until = Date.now() + READY_WITHIN_MS; Date.now() < until; await sleep(50)) {
    if (await fetch(at).catch(() => null)) return
  }
  throw new Error(`${at} does not answer`)
}

/** Follows a browser's way, and chooses a person where the provider asks. @returns the text of the page where it ends */
async function browse(start: string, person: string): Promise<string> {
  const cookies = new Map<string, Map<string, string>>()
  let at = start
  for (let step = 0; step < 20; step++) {
    const { origin } = new URL(at)
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
    if (!chosen) return page
    at = new URL(chosen, at).href
  }
  throw new Error(`the browser does not arrive: ${at}`)
}
