import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from '../../../scripts/lib/paths.ts'
import { sleep } from '../../../scripts/lib/terminal.ts'

/** How long a process may take until it is ready (ms), on a machine with other work. */
const READY_WITHIN = 120_000
/** How much of its latest output is kept, in characters. */
const KEPT = 20_000

/** A script of this folder, as a process that can be killed and started again. */
export function processOf(script: string, args: () => readonly string[]) {
  let child: ChildProcess | null = null
  let said = ''
  const start = async () => {
    const own = spawn(process.execPath, [join(ROOT, 'scripts/run.js'), `test/system/webhooks/${script}`, ...args()], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    child = own
    said = ''
    for (const stream of [own.stdout, own.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-KEPT)
      })
    }
    for (const until = Date.now() + READY_WITHIN; !said.includes('Ready:'); await sleep(50)) {
      if (own.exitCode !== null || Date.now() > until) throw new Error(`${script} did not become ready:\n${said}`)
    }
  }
  /** Kills it with all processes that it has started. */
  const kill = async () => {
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  return { start, kill, said: () => said }
}
