import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LOCAL_DIR, ROOT, STATE_DIR } from '../paths.ts'
import { sleep } from '../terminal.ts'
import { COMPATIBILITY_DATE } from '../worker-bundle.ts'
import { WRANGLER, WRANGLER_ENV } from '../wrangler.ts'

const READY_WITHIN = 120_000

/** A database as wrangler binds it. `remote`: whether it is in the account that wrangler is logged in to. */
export type Bound = { name: string; id: string; remote: boolean }
export type Opened = Awaited<ReturnType<typeof openDatabase>>

/** The configuration of a Worker that has nothing but a database. @returns its path */
export function databaseConfig({ name, id, remote }: Bound, token = ''): string {
  const folder = join(LOCAL_DIR, `backup-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'wrangler.toml')
  const text = `name = "platform-api-backup"
main = ${JSON.stringify(join(import.meta.dirname, 'worker.ts'))}
compatibility_date = "${COMPATIBILITY_DATE}"
[vars]
TOKEN = ${JSON.stringify(token)}
[[d1_databases]]
binding = "DB"
database_name = ${JSON.stringify(name)}
database_id = ${JSON.stringify(id)}
migrations_dir = ${JSON.stringify(join(ROOT, 'drizzle'))}
remote = ${remote}
`
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

/** Runs the Worker of the backup scripts on this machine, beside a database. */
export async function openDatabase(bound: Bound) {
  const token = randomBytes(32).toString('hex')
  const config = databaseConfig(bound, token)
  const port = await freePort()
  const listening = ['--port', String(port), '--ip', '127.0.0.1', '--inspector-port', '0']
  const more = ['--persist-to', STATE_DIR, '--show-interactive-dev-session=false']
  const child = spawn(
    process.execPath,
    [
      join(ROOT, 'scripts/lib/supervise.ts'),
      process.execPath,
      WRANGLER,
      'dev',
      '--config',
      config,
      ...listening,
      ...more,
    ],
    { cwd: ROOT, env: WRANGLER_ENV, stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  )
  const said: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => void said.push(line))
  }
  const close = () => {
    end(child)
    rmSync(join(config, '..'), { recursive: true, force: true })
  }
  process.on('exit', close)
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

  async function ask(path: string, body: string | Uint8Array<ArrayBuffer> = ''): Promise<Response> {
    const headers = { Authorization: `Bearer ${token}` }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
    if (response.ok) return response
    throw new Error((await response.text()) || `the database could not be reached: ${response.status}`)
  }
  await ready(ask, child, said)
  return { ask, close }
}

async function ready(ask: (path: string) => Promise<unknown>, child: ChildProcess, said: string[]): Promise<void> {
  for (const until = Date.now() + READY_WITHIN; Date.now() < until && child.exitCode === null; await sleep(250)) {
    const answered = await ask('/ready').then(
      () => true,
      () => false,
    )
    if (answered) return
  }
  throw new Error(`wrangler did not open the database:\n${said.slice(-30).join('\n')}`)
}

function end({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has already ended.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
