import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ACCOUNT_ID, type Account } from './account.ts'
import { serveAccount } from './stand-in.ts'

/** Not the file of a real deployment. */
const CONFIG = 'wrangler.deploy-walk.toml'
/** The name of the Worker in wrangler.toml, with which all other names begin. */
export const NAME = 'platform-api'
export const ORIGIN = `https://${NAME}.example.workers.dev`
const OWN = ['--public-origin', ORIGIN, '--email-from', 'sign-in@example.org']

export type Ended = { code: number | null; said: string }

/** The scripts of a checkout, with our own account that answers them. */
export function checkoutAt(root: string) {
  const script = async (account: Account, name: string, args: readonly string[]): Promise<Ended> => {
    const { url, close } = await serveAccount(account)
    try {
      return await ran(root, url, process.execPath, ['scripts/run.js', `scripts/${name}.ts`, ...args])
    } finally {
      close()
    }
  }
  return {
    script,
    async deploy(account: Account, flags: readonly string[] = []): Promise<Ended> {
      try {
        return await script(account, 'deploy', [...OWN, ...flags])
      } finally {
        rmSync(join(root, CONFIG), { force: true })
      }
    },
    /** Like `deploy`, but the file is kept for the scripts that read it. */
    deployAndKeep: (account: Account, flags: readonly string[] = []) => script(account, 'deploy', [...OWN, ...flags]),
    /** Runs a line of a page as an operator pastes it. `deployAndKeep` must have made the file. */
    async paste(account: Account, line: string): Promise<Ended> {
      const { url, close } = await serveAccount(account)
      try {
        return await ran(root, url, 'bash', ['-c', line.replaceAll('wrangler.deploy.toml', CONFIG)])
      } finally {
        close()
      }
    },
  }
}

function ran(root: string, url: string, command: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { LOCAL_STATE_DIR: _, ...env } = process.env
    const child = spawn(command, args, {
      cwd: root,
      env: {
        ...env,
        NODE_NO_WARNINGS: '1',
        CLOUDFLARE_API_BASE_URL: url,
        CLOUDFLARE_API_TOKEN: 'a-token-of-nobody',
        CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
        DEPLOY_CONFIG: CONFIG,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}

/** How many queues, databases and namespaces were asked for. */
export function creationsOf({ asked }: Account): number {
  return asked.filter((line) => /^POST \/(queues|d1\/database|storage\/kv\/namespaces)$/.test(line)).length
}

export function consumersOf({ queues }: Account): number[] {
  return queues.map(({ consumers }) => consumers.length)
}

export function names<K extends string>(rows: readonly Record<K, string>[], name: K): string[] {
  return rows.map((row) => row[name])
}

export function must({ code, said }: Ended, expected: number, saying: string): void {
  if (code !== expected || !said.includes(saying)) throw new Error(`exit code ${code}:\n${said}`)
}

export function same(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`)
}
