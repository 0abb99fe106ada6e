import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { must } from '../../scripts/lib/api.ts'
import { command } from '../../scripts/lib/command.ts'
import { localProject } from '../../scripts/lib/inbox.ts'
import { ROOT } from '../../scripts/lib/paths.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'

const SECRET = `whsec_${Buffer.from('a secret that only this test knows').toString('base64')}`
const WITHIN_MS = 300_000

/**
 * Runs npm run listen beside a server of its own, which refuses each change once, and is killed with its position in the middle of
 * the changes.
 *
 * @returns what is printed about it
 * @throws if a change is missing, comes out of order, or is not signed as the standard's own library expects
 */
export async function tryListen(url: string): Promise<string> {
  const { token } = await localSession(url)
  const project = await localProject(url, token)
  await refuses(url, project)
  const taken: string[] = []
  const refused = new Set<string>()
  const wrong: string[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const headers = request.headers as Record<string, string>
      const id = headers['webhook-id'] ?? ''
      try {
        const { data } = new Webhook(SECRET).verify(Buffer.concat(parts).toString(), headers) as {
          data: { id: string }
        }
        if (data.id !== id) wrong.push(`${id} has the body of ${data.id}`)
      } catch (error) {
        wrong.push(`${id}: ${error}`)
      }
      const isFirst = !refused.has(id)
      refused.add(id)
      if (!isFirst) taken.push(id)
      response.writeHead(isFirst ? 503 : 204).end()
    })
  }).listen(0)
  await once(server, 'listening')
  const forward = `http://localhost:${(server.address() as AddressInfo).port}`
  let listener = listen(forward, '--after', 'latest')
  try {
    await spoken(listener)
    for (let n = 1; n <= 4; n++) {
      await must(`${url}/platform/v1/consumers/ext:listen-${n}`, {
        method: 'PUT',
        token,
        project,
        json: { name: `${n}` },
      })
      if (n === 2) {
        await until(() => taken.length >= 2)
        listener.kill('SIGKILL')
        listener = listen(forward)
      }
    }
    await until(() => new Set(taken).size >= 4)
  } finally {
    listener.kill('SIGKILL')
    server.close()
  }
  const numbers = [...new Set(taken)].map((id) => Number(id.split('_').at(-1)))
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  if (numbers.some((number, i) => i > 0 && number !== (numbers[i - 1] ?? 0) + 1)) throw new Error(`it sent ${numbers}`)
  return `${numbers.length} changes in order, each refused once, the listener killed in between`
}

/** @throws unless a token that the API refuses ends the command with the API's reason */
async function refuses(url: string, project: string): Promise<void> {
  const flags = ['--forward', url, '--url', url, '--token', 'svc_v1_none', '--project', project]
  const ended = command(process.execPath, ['scripts/run.js', 'scripts/listen.ts', ...flags])
  const said = await ended.then(
    () => 'it ended without an error',
    (error) => String(error),
  )
  if (!said.includes('malformed_credentials')) throw new Error(`a token that is refused: ${said}`)
}

function listen(forward: string, ...more: string[]): ChildProcess {
  const args = [join(ROOT, 'scripts/run.js'), 'scripts/listen.ts', '--forward', forward, '--secret', SECRET, ...more]
  return spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Waits until the listener has said where it begins: from then on it misses nothing. */
async function spoken(listener: ChildProcess): Promise<void> {
  let said = ''
  listener.stdout?.on('data', (part) => {
    said += part
  })
  await until(() => said.includes('From chg_'))
}

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + WITHIN_MS
  while (!isSo()) {
    if (Date.now() > end) throw new Error('nothing came in time')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
