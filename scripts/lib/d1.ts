import { STATE_DIR } from './paths.ts'
import { wranglerOrThrow } from './wrangler.ts'

/** A value as an SQL literal. `wrangler d1 execute` takes no parameters, so this is the only way in. */
export function literal(value: string | number): string {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Error(`${value} is no integer`)
    return String(value)
  }
  if (value.includes('\0')) throw new Error('a text of SQL cannot hold NUL')
  return `'${value.replaceAll("'", "''")}'`
}

/** Where a script's statements go: the embedded database, or the one that a deployment's configuration names. */
export type Target = 'local' | { config: string }

/** Runs statements and gives back the rows of each. A running local server keeps working beside it. */
export async function execute(target: Target, sql: string): Promise<Record<string, unknown>[][]> {
  const where = target === 'local' ? ['--local', '--persist-to', STATE_DIR] : ['--remote', '--config', target.config]
  const out = await wranglerOrThrow(['d1', 'execute', 'DB', ...where, '--json', '--command', sql])
  return (JSON.parse(out) as { results: Record<string, unknown>[] }[]).map(({ results }) => results)
}

/** Applies the migrations that are missing. Safe to repeat. */
export async function migrate(target: Target): Promise<void> {
  const where = target === 'local' ? ['--local', '--persist-to', STATE_DIR] : ['--remote', '--config', target.config]
  await wranglerOrThrow(['d1', 'migrations', 'apply', 'DB', ...where])
}
