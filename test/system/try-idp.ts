import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { command } from '../../scripts/lib/command.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { newProject } from './new-project.ts'
import { answers, freePort } from './server.ts'
import { blocksOf, SSO_GUIDE } from './try-guide.ts'
import { check } from './try-pages.ts'

/**
 * Signs in customers at the identity provider of `npm start -- --idp`, with the commands and the program of docs/guides/sso-customers.md: a
 * test run of the connection, then two people.
 *
 * @param folder where the program is, beside the installed client
 * @returns what is printed about it
 */
export async function tryIdp(url: string, folder: string): Promise<string> {
  const { token } = await signIn(url, 'sso@example.com')
  const { project, key } = await newProject(url, token, 'SSO')
  const port = await freePort()
  const product = (text: string) => text.replaceAll('localhost:3000', `localhost:${port}`)
  const [create = '', activate = '', start = '', curl = '', ...more] = blocksOf(readFileSync(SSO_GUIDE, 'utf8'), 'sh')
  if (more.length > 0) throw new Error('sso-customers: commands that nothing runs')
  const env = { ...process.env, API_URL: url, PORT: `${port}`, KEY: key, PROJECT: project, SSO: '' }
  const [functions = ''] = create.split(/^SSO=/m)
  const shell = (lines: string) =>
    command('bash', ['-euc', product(lines).replaceAll('http://localhost:8787', url)], { env, cwd: folder })

  const made = await shell(`${create}\necho " SSO=$SSO"`)
  env.SSO = / SSO=(\w+)/.exec(made)?.[1] ?? ''
  await browse(`${/"url":"([^"]+)"/.exec(made)?.[1]}?continue`, 'Ada Lovelace')
  check('sso-customers', activate, await shell(functions + activate), ['"state":"active"'])

  const program = spawn('bash', ['-c', start], {
    cwd: folder,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  try {
    await answers(product('http://localhost:3000'))
    const [authorize = '', exchange = '', says = ''] = curl.split('\n')
    const to = /"url":"([^"]+)"/.exec(await shell(functions + authorize))?.[1] ?? ''
    const code = new URL((await browse(to, 'Ada Lovelace')).at).searchParams.get('code')
    const taken = await shell(functions + exchange.replace('"code":"…"', `"code":"${code}"`))
    check('sso-customers', exchange, taken, [says.slice(2)])
    const people = await signInAll(product('http://localhost:3000'))
    if (people[0] !== people[2] || people[0] === people[1]) throw new Error(`the consumers are ${people}`)
  } finally {
    if (program.pid !== undefined) process.kill(-program.pid)
  }
  return 'a test run passed, and two people signed in, one of them twice'
}

/** @returns the consumers that two people became, one of them twice */
async function signInAll(product: string): Promise<string[]> {
  const people: string[] = []
  for (const person of ['Ada Lovelace', 'Grace Hopper', 'Ada Lovelace']) {
    const { said } = await browse(`${product}/login`, person)
    const [, consumer] = new RegExp(`^Hello ${person}, you are (csm_\\w+)\\.$`).exec(said) ?? []
    if (consumer === undefined) throw new Error(`the product said: ${said}`)
    people.push(consumer)
  }
  const forged = await fetch(`${product}/sso/callback?code=x&state=y`, { headers: { Cookie: 'state=z' } })
  if (forged.status !== 403) throw new Error(`a sign-in that was begun elsewhere got ${forged.status}`)
  return people
}

/** Follows a browser's way, and chooses a person where the provider asks. @returns where it ends, and the text of that page */
async function browse(start: string, person: string): Promise<{ at: string; said: string }> {
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
    if (!chosen) return { at, said: page }
    at = new URL(chosen, at).href
  }
  throw new Error(`the browser does not arrive: ${at}`)
}
