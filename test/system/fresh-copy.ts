import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../scripts/lib/paths.ts'
import { sleep } from '../../scripts/lib/terminal.ts'
import { freePort } from './server.ts'

/** What a checkout consists of, as far as a server and a test need it. */
const COPIED = [
  'src',
  'drizzle',
  'scripts',
  'test',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'wrangler.toml',
  // The build turns them into /docs.
  'docs',
  'client/README.md',
  'bench/README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
]
/** How long a busy machine may take to start, and to serve an edit (ms). */
const PATIENCE = 400_000
/** How long one request may take (ms). `wrangler dev` never answers some requests that come while it loads the code again. */
const ANSWERED_WITHIN = 60_000
/** What the server prints with a code, how long it may take (ms), and how many codes are asked for. */
const PRINTED = 'Sign-in code for me@example.com'
const PRINTED_WITHIN = 45_000
const MOST_CODES = 4
/** The file that is edited, and the text of it that is served. */
const EDITED = 'src/health/healthz.ts'
const TEXT = "status: 'ok' as const"

/** A fresh copy of this checkout with the same packages, and with the environment that a user has. */
export function copyOf(folder: string) {
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return {
    /** The folder of the copy. */
    folder,
    /** Runs a command to its end. */
    run: (command: string, args: readonly string[]) =>
      new Promise<{ code: number | null; said: string }>((resolve, reject) => {
        const { child, said } = start(folder, command, args)
        child.on('error', reject)
        child.on('close', (code) => resolve({ code, said: said() }))
      }),
    /**
     * Starts a server with a command, asks for a sign-in code, edits a file, and waits for the edit to be served.
     *
     * @param meanwhile is done before the edit
     * @returns how long that took (ms)
     * @throws if any of it does not happen
     */
    async serves(command: readonly string[], meanwhile?: (url: string) => Promise<unknown>): Promise<number> {
      const file = join(folder, EDITED)
      const before = readFileSync(file, 'utf8')
      try {
        return await serving(folder, command, async (url, said) => {
          await requestCode(url, said)
          await meanwhile?.(url)
          const began = Date.now()
          writeFileSync(file, before.replace(TEXT, `${TEXT}, edited: true`))
          await until('the edit is served', said, async () =>
            (await (await ask(`${url}/healthz`)).text()).includes('edited'),
          )
          return Date.now() - began
        })
      } finally {
        writeFileSync(file, before)
      }
    },
  }
}

/** What is done with a server, and with what it has said so far. */
type Body<T> = (url: string, said: () => string) => Promise<T>

/**
 * Starts a server with a command, does something with it, and ends it.
 *
 * @throws if it does not start, or does not end
 */
async function serving<T>(folder: string, [command = '', ...args]: readonly string[], body: Body<T>): Promise<T> {
  const port = await freePort()
  const { child, said } = start(folder, command, [...args, '--port', String(port)])
  const url = `http://localhost:${port}`
  try {
    await until('/healthz answers', said, async () => (await ask(`${url}/healthz`)).ok)
    return await body(url, said)
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    await until('the server is gone', said, async () => (await fetch(url).catch(() => null)) === null)
  }
}

/**
 * Asks for a sign-in code, and waits until the server has printed it. What a request does after its answer is lost if `wrangler dev` loads
 * the code again meanwhile: then the code is asked for again, as a person would.
 */
async function requestCode(url: string, said: () => string): Promise<void> {
  for (let asked = 1; ; asked++) {
    await askForCode(url, said)
    try {
      return await until('the code is printed', said, async () => said().includes(PRINTED), PRINTED_WITHIN)
    } catch (error) {
      if (asked === MOST_CODES) throw error
    }
  }
}

async function askForCode(url: string, said: () => string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  let status: number | undefined
  await until('a sign-in code is asked for', said, async () => {
    const answer = await ask(`${url}/auth/codes`, { method: 'POST', headers, body: '{"email":"me@example.com"}' })
    status = answer.status
    return true
  })
  if (status !== 202) throw new Error(`${status} for a sign-in code:\n${said()}`)
}

function ask(url: string, init?: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(ANSWERED_WITHIN) })
}

function start(cwd: string, command: string, args: readonly string[]): { child: ChildProcess; said: () => string } {
  const { LOCAL_STATE_DIR: _, ...env } = process.env
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  return { child, said: () => said }
}

async function until(what: string, said: () => string, holds: () => Promise<boolean>, ms = PATIENCE): Promise<void> {
  let failure: unknown = 'no error'
  const tried = () =>
    holds().catch((error: unknown) => {
      failure = error
      return false
    })
  for (const end = Date.now() + ms; !(await tried()); await sleep(200)) {
    if (Date.now() > end) {
      throw new Error(`within ${ms / 1000} s, not: ${what} (${failure}):\n${said().slice(-4000)}`)
    }
  }
}
