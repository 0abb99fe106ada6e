import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './paths.ts'

export const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')

/** Room for what wrangler makes while it loads: without it, collecting garbage is a tenth of what a command takes. */
const ROOM = ['--min-semi-space-size=64', '--max-semi-space-size=64']

/** No prompts, no telemetry, no lookup of request locations, and nothing shared with other checkouts. */
export const WRANGLER_ENV: NodeJS.ProcessEnv = {
  ...process.env,
  CI: '1',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_LOG_PATH: join(ROOT, '.wrangler/logs'),
  WRANGLER_REGISTRY_PATH: join(ROOT, '.wrangler/registry'),
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
}

export type Finished = { code: number; stdout: string; stderr: string }

/** `show` also prints the output. `within`: how long it may take (ms). After that, it is ended and counts as failed. */
type Options = { show?: boolean; within?: number }

/** Runs wrangler and waits for it. */
export function wrangler(args: readonly string[], options: Options = {}): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...ROOM, WRANGLER, ...args], {
      cwd: ROOT,
      env: WRANGLER_ENV,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.within !== undefined && { timeout: options.within }),
    })
    const out = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        out[name] += text
        if (options.show) process[name].write(text)
      })
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, ...out }))
  })
}

/** As {@link wrangler}, but throws its output if it fails. @returns its standard output */
export async function wranglerOrThrow(args: readonly string[], options: Options = {}): Promise<string> {
  const { code, stdout, stderr } = await wrangler(args, options)
  if (code === 0) return stdout
  const said = options.show ? '' : `\n${(stderr || stdout).trim()}`
  throw new Error(`wrangler ${args.join(' ')} failed (exit code ${code}).${said}`)
}
