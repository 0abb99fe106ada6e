/* A PostgreSQL of the benchmark's own, where the machine has one: a new cluster in a folder of its own, as it is set up. */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { sleep } from '../scripts/lib/terminal.ts'
import { freePort } from '../test/system/server.ts'

export type Postgres = { url: string; close: () => Promise<void> }

const DEBIAN = '/usr/lib/postgresql'
const READY_WITHIN_MS = 20_000

/** @returns null where the machine has no PostgreSQL server */
export async function openPostgres(): Promise<Postgres | null> {
  const bin = findBin()
  if (bin === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'))
  const user = serverUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { cwd: folder, stdio: 'ignore' as const, ...user }
  execFileSync(join(bin, 'initdb'), ['-D', join(folder, 'data'), '-U', 'postgres', '--auth=trust'], options)
  const port = await freePort()
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', join(folder, 'data'), '-p', String(port), '-k', folder, '-c', 'listen_addresses=127.0.0.1'],
    options,
  )
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const close = async () => {
    server.kill('SIGINT') // fast shutdown
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  for (const until = Date.now() + READY_WITHIN_MS; !isReady(bin, port); await sleep(100)) {
    if (Date.now() < until && server.exitCode === null) continue
    await close()
    throw new Error('PostgreSQL did not start')
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, close }
}

function findBin(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const holds = (folder: string) => ['initdb', 'postgres', 'pg_isready'].every((name) => existsSync(join(folder, name)))
  return folders.find(holds) ?? null
}

/** Its server does not run as root: there it runs as the user that its package made. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function isReady(bin: string, port: number): boolean {
  try {
    execFileSync(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
    return true
  } catch {
    return false // not yet
  }
}
