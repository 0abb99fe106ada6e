import { spawn } from 'node:child_process'
import { ROOT } from './paths.ts'

type Options = {
  cwd?: string
  /** Variables beside those of this process. */
  env?: Record<string, string>
  /** What the command reads, made from what it has printed so far; null as long as there is nothing to say. */
  answer?: (said: string) => string | null
}

/** Runs a command to its end. @returns what it printed @throws with that, if it fails */
export function command(file: string, args: readonly string[], options: Options = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: options.cwd ?? ROOT,
      env: { ...process.env, ...options.env },
      stdio: 'pipe',
    })
    let said = ''
    const asking = setInterval(() => {
      const answer = options.answer?.(said) ?? null
      if (answer === null) return
      clearInterval(asking)
      child.stdin.end(`${answer}\n`)
    }, 50)
    if (!options.answer) child.stdin.end()
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    }
    child.on('error', reject)
    child.on('close', (code) => {
      clearInterval(asking)
      if (code === 0) resolve(said)
      else reject(new Error(`${[file, ...args].join(' ')} failed (exit code ${code}):\n${said}`))
    })
  })
}
