import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { ROOT, readLocal } from '../../scripts/lib/paths.ts'
import { isAlive } from '../../scripts/lib/running.ts'
import { sleep } from '../../scripts/lib/terminal.ts'

/** A server that a script started with npm start, and its output so far. */
export type Server = { process: ChildProcess; said: () => string }

const SECOND = 1000
/** How long npm start may take (ms): most of it is migrations, on a machine that may have other work. */
const READY_WITHIN = 300 * SECOND
/** How much of the server's latest output is kept, in characters. */
const KEPT = 200_000

/**
 * Runs npm start on a port and waits until it is ready.
 *
 * @param flags further ones
 * @throws with its output, if it does not become ready
 */
export async function startServer(
  port: number,
  env: Record<string, string> = {},
  flags: string[] = [],
): Promise<Server> {
  const child = spawn('npm', ['start', '--', '--port', String(port), ...flags], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-KEPT)
    })
  }
  for (const until = Date.now() + READY_WITHIN; Date.now() < until; await sleep(100)) {
    if (said.includes('Ready:')) return { process: child, said: () => said }
    if (child.exitCode !== null) break
  }
  if (child.pid !== undefined && isAlive(-child.pid)) process.kill(-child.pid, 'SIGKILL')
  throw new Error(`npm start did not become ready:\n${said}`)
}

/** Sends SIGKILL to all of its processes: npm, its script, wrangler and workerd. */
export function killServer(server: Server | null): void {
  const running = readLocal<{ group: number }>('server.json')
  for (const group of [server?.process.pid, running?.group]) {
    if (group !== undefined && isAlive(-group)) process.kill(-group, 'SIGKILL')
  }
}

/** Waits until a program that was started answers. @throws if it does not */
export async function answers(at: string): Promise<void> {
  for (const until = Date.now() + 20 * SECOND; Date.now() < until; await sleep(50)) {
    if (await fetch(at).catch(() => null)) return
  }
  throw new Error(`${at} does not answer`)
}

/** Waits until nothing listens on the port. @throws if something still does */
export async function portFree(port: number): Promise<void> {
  for (const until = Date.now() + 15 * SECOND; Date.now() < until; await sleep(100)) {
    if (await canListen(port)) return
  }
  throw new Error(`port ${port} is still in use`)
}

/**
 * Finds a free port. The next one is free too, because npm start -- --idp needs both. Outgoing connections get ports from 32768 on, so a lower
 * port stays free until a server takes it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 10_000) * 2
    if ((await canListen(port)) && (await canListen(port + 1))) return port
  }
}

function canListen(wanted: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(wanted, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
