import { fail } from '../terminal.ts'
import { type Finished, wrangler } from '../wrangler.ts'
import { hintFor } from './hints.ts'

/** What else is printed for a command that changes something. */
type Telling = {
  /** When it runs, for a dry run. */
  when?: string
  /** If it fails: what was done, and what was not. */
  failed?: string
}

/** wrangler's commands, each printed before it runs. A dry run prints them, and runs none. */
export class Commands {
  readonly dry: boolean

  constructor(dry: boolean) {
    this.dry = dry
  }

  told(what: string): void {
    console.log(`\n# ${what}`)
  }

  /** A command that only reads. */
  async look(args: readonly string[]): Promise<Finished> {
    console.log(`\n$ wrangler ${args.join(' ')}`)
    return this.dry ? { code: 0, stdout: '', stderr: '' } : wrangler(args)
  }

  async lookOrThrow(args: readonly string[]): Promise<string> {
    const finished = await this.look(args)
    requireSuccess(args, finished, finished.stderr || finished.stdout)
    return finished.stdout
  }

  /** Ends the script if the command fails. @returns what the command printed */
  async change(args: readonly string[], { when = '', failed = '' }: Telling = {}): Promise<string> {
    console.log(`\n$ wrangler ${args.join(' ')}${this.dry && when ? `   # ${when}` : ''}`)
    if (this.dry) return ''
    const finished = await wrangler(args, { show: true })
    requireSuccess(args, finished, failed)
    return finished.stdout
  }
}

/** Ends the script if a command failed. It prints `first`, that the command failed, and what to do about it. */
function requireSuccess(args: readonly string[], { code, stdout, stderr }: Finished, first: string): void {
  if (code === 0) return
  const hint = hintFor(args, stdout + stderr)
  fail(
    [first.trim(), `wrangler ${args.slice(0, 3).join(' ')} failed (exit code ${code}).`, hint]
      .filter(Boolean)
      .join('\n'),
  )
}
