import { parseArgs } from 'node:util'
import { fail } from './terminal.ts'

/** An option of a script. `takes` names its value in the help; an option without it takes no value. */
export type Flag =
  | { type: 'string'; takes: string; help: string; default?: string }
  | { type: 'boolean'; help: string; default?: boolean }
type Flags = Record<string, Flag>

/** What the help of a script shows: the command line, the purpose, the options and notes. */
export type Command<F extends Flags> = { usage: string; about: string; flags: F; notes?: string; positionals?: boolean }

/**
 * Reads the options of a script. --help prints the help and exits. An unknown option does the same with exit code 1.
 */
export function readFlags<const F extends Flags>(command: Command<F>) {
  if (process.argv.includes('--help')) {
    console.log(helpOf(command))
    process.exit(0)
  }
  try {
    return parseArgs({ options: command.flags, allowPositionals: command.positionals ?? false })
  } catch (error) {
    return misused(command, (error as Error).message.split('. ')[0] ?? '')
  }
}

/** Prints what is wrong with the command line, and the help. */
export function misused(command: Command<Flags>, what: string): never {
  return fail(`${what}.\n\n${helpOf(command)}`)
}

function helpOf({ usage, about, flags, notes }: Command<Flags>): string {
  const left = (name: string, flag: Flag) => `  --${name}${flag.type === 'string' ? ` ${flag.takes}` : ''}`
  const rows = Object.entries(flags).map(([name, flag]) => [left(name, flag), flag] as const)
  const width = Math.max(...rows.map(([text]) => text.length))
  const lines = rows.map(([text, flag]) => {
    const otherwise = typeof flag.default === 'string' ? ` (default: ${flag.default})` : ''
    return `${text.padEnd(width)}  ${flag.help}${otherwise}`
  })
  return [`Usage: ${usage}`, about, lines.join('\n'), notes].filter(Boolean).join('\n\n')
}
