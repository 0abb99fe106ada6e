import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { must } from '../../scripts/lib/api.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { signIn } from '../../scripts/lib/sign-in.ts'
import { newProject } from './new-project.ts'
import { answers, freePort } from './server.ts'
import { codeOf } from './try-guide.ts'

const SECRET = `whsec_${Buffer.from('a secret that only this test knows').toString('base64')}`

/**
 * Runs the programs in JavaScript that guides have for a server of the reader's: the middleware that checks customers' keys, and the
 * receiver of webhooks.
 *
 * @param folder where the client, express and standardwebhooks are installed
 * @throws if one answers something else than its page says
 */
export async function tryPrograms(url: string, folder: string): Promise<string> {
  const { token } = await signIn(url, 'programs@example.com')
  const { project, key } = await newProject(url, token, 'Keys', ['entitlements:read'])
  const env = { API_URL: url, API_KEY: key, PROJECT_ID: project }
  await running({ page: 'customer-keys', folder, env }, (at) =>
    checksKeys(at, `${url}/platform/v1`, { token, project }),
  )
  await running({ page: 'webhooks-out', folder, env: { WEBHOOK_SECRET: SECRET } }, receives)
  return 'the programs of two guides check keys of customers, and signatures of webhooks'
}

/** A customer's key opens what the page says, and no more. */
async function checksKeys(at: string, api: string, by: { token: string; project: string }): Promise<void> {
  await must(`${api}/consumers/ext:acme`, { ...by, method: 'PUT', json: {} })
  for (const [feature, type, value] of [
    ['seats', 'quantity', 3],
    ['exports', 'boolean', null],
  ] as const) {
    await must(`${api}/billing/features/${feature}`, { ...by, method: 'PUT', json: { name: feature, type } })
    if (value !== null) await must(`${api}/billing/grants`, { ...by, json: { consumer: 'ext:acme', feature, value } })
  }
  const device = { platform: 'server', scopes: ['reports:read'] }
  const path = `${api}/consumers/ext:acme/devices/key-1`
  const { token } = await must<{ token: string }>(path, { ...by, method: 'PUT', json: device })
  const headers = { Authorization: `Bearer ${token}` }
  const reports = await fetch(`${at}/reports`, { headers })
  const said = (await reports.json()) as { customer: string; key: string; seats: number }
  if (!token.startsWith(said.key.split('…')[0] ?? '-') || said.customer !== 'acme' || said.seats !== 3)
    throw new Error(`customer-keys: the program answered ${JSON.stringify(said)}`)
  const refused = [await fetch(`${at}/reports`), await fetch(`${at}/exports`, { method: 'POST', headers })]
  const statuses = refused.map(({ status }) => status)
  if (statuses.join() !== '401,403') throw new Error(`customer-keys: the program answered ${statuses}`)
}

/** A webhook with our signature is taken, and one that was changed on its way is not. */
async function receives(at: string): Promise<void> {
  const [id, now, body] = ['chg_1_1', new Date(), JSON.stringify({ type: 'consumer.created', data: { id: 'chg_1_1' } })]
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign(id, now, body),
  }
  const post = async (text: string) => (await fetch(at, { method: 'POST', headers, body: text })).status
  const statuses = [await post(body), await post(`${body} `)]
  if (statuses.join() !== '204,400') throw new Error(`webhooks-out: the program answered ${statuses}`)
}

type Program = { page: string; folder: string; env: Record<string, string> }

/** Runs the program of a page, on a free port, as long as `use` takes. */
async function running({ page, folder, env }: Program, use: (at: string) => Promise<void>): Promise<void> {
  const code = codeOf(readFileSync(join(ROOT, `docs/guides/${page}.md`), 'utf8'), 'js')
  const port = await freePort()
  if (!code.includes('.listen(3000)')) throw new Error(`${page}: the program listens elsewhere`)
  writeFileSync(join(folder, `${page}.js`), code.replace('.listen(3000)', `.listen(${port})`))
  const program = spawn(process.execPath, [`${page}.js`], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const at = `http://localhost:${port}`
  try {
    await answers(at)
    await use(at)
  } finally {
    program.kill()
  }
}
