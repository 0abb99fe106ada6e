import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const ROOT = resolve(import.meta.dirname, '../..')
const READY_WITHIN = 120_000

/**
 * Runs npm start on a free port with its own state, and stops it after the tests. All tests come from one address, and
 * together they sign in more often than the ten times that one address may in a minute. So the limits are wide.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'e2e-'))
  const port = await freePort()
  // The tests read sign-in codes from the same place as the scripts.
  process.env.LOCAL_STATE_DIR = join(folder, 'state')
  process.env.CONSOLE_URL = `http://localhost:${port}`
  const child = spawn('npm', ['start', '--', '--port', String(port)], {
    cwd: ROOT,
    env: { ...process.env, LOCAL_RATE_LIMIT: '100000' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  await ready(child)
  return async () => {
    end(child.pid)
    end(groupOf(folder))
    await sleep(200)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 })
  }
}

async function ready(child: ChildProcess): Promise<void> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (process.env.SERVER_LOG) process.stderr.write(text)
    })
  }
  for (const until = Date.now() + READY_WITHIN; Date.now() < until; await sleep(100)) {
    if (said.includes('Ready:')) return
    if (child.exitCode !== null) break
  }
  end(child.pid)
  throw new Error(`npm start did not become ready:\n${said}`)
}

/** The process group of wrangler and workerd. */
function groupOf(folder: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(join(folder, 'state/local/server.json'), 'utf8')) as { group: number }).group
  } catch {
    return undefined // it did not start, or has ended
  }
}

function end(group: number | undefined): void {
  if (group === undefined) return
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // it has ended
  }
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
      .once('error', fail)
      .listen(0, '127.0.0.1', () => {
        const address = probe.address()
        probe.close(() => (typeof address === 'object' && address ? done(address.port) : fail(new Error('no port'))))
      })
  })
}
