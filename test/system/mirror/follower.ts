import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from '../../../scripts/lib/paths.ts'
import type { World } from './world.ts'

/** How much of its latest output is kept, in characters. */
const KEPT = 20_000

/** npm run mirror, as a process that can be killed and started again. */
export function followerOf({ url, project, reader }: World, to: string) {
  let said = ''
  let child: ChildProcess | null = null
  const start = (...more: string[]) => {
    const args = [
      join(ROOT, 'scripts/run.js'),
      'client/mirror.ts',
      '--url',
      url,
      '--project',
      project,
      '--to',
      to,
      ...more,
    ]
    child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, API_KEY: reader },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-KEPT)
      })
    }
    return child
  }
  return {
    said: () => said,
    start,
    /** Whether it has ended by itself, which it must not. */
    hasFailed: () => child !== null && child.exitCode !== null && child.exitCode !== 0,
    async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
    /** Runs it until it has caught up. @throws with its output if it fails */
    async catchUp(): Promise<void> {
      const [code] = await once(start('--once'), 'exit')
      if (code !== 0) throw new Error(`the mirror ended with ${code}:\n${said}`)
    },
  }
}
