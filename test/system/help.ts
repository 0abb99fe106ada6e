import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../scripts/lib/paths.ts'

/** It hands options on to drizzle-kit, which has others. */
const HANDS_ON = ['db:generate']

/**
 * Checks what a script says with --help.
 *
 * @throws if it does not say how to run it, or lacks an option that a page uses with it
 */
export function checkHelp(script: string, said: string): void {
  if (!/^Usage: npm /m.test(said)) throw new Error(`no usage from ${script}:\n${said}`)
  if (HANDS_ON.includes(script)) return
  const known = new Set(said.match(/--[a-z][\w-]*/g))
  const unknown = optionsIn(pages(), script).filter((option) => !known.has(option))
  if (unknown.length > 0) throw new Error(`pages use options that ${script} does not have: ${unknown}`)
}

/** The options that pages give to a script. */
function optionsIn(text: string, script: string): string[] {
  const calls = text.matchAll(new RegExp(`\\bnpm (?:run (?:-s )?)?${script} -- ([^\\n\`#&|]*)`, 'g'))
  return [...calls].flatMap(([, args = '']) => args.match(/(?<![\w-])--[a-z][\w-]*/g) ?? [])
}

let read: string | undefined
function pages(): string {
  read ??= ['README.md', 'CONTRIBUTING.md', 'client/README.md', 'bench/README.md', ...docs()]
    .map((path) => readFileSync(join(ROOT, path), 'utf8').replaceAll(/\\\n */g, ''))
    .join('\n')
  return read
}

function docs(): string[] {
  const all = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  return all.filter((path) => path.endsWith('.md')).map((path) => `docs/${path}`)
}
