import { asked, localConfig, localText } from './local-config.ts'
import { STATE_DIR } from './paths.ts'
import { boundStores, databaseBinding } from './stores-config.ts'
import { wranglerOrThrow } from './wrangler.ts'

/** A value as an SQL literal, because `wrangler d1 execute` takes no parameters. */
export function literal(value: string | number): string {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Error(`${value} is not an integer`)
    return String(value)
  }
  if (value.includes('\0')) throw new Error('an SQL string cannot contain NUL')
  return `'${value.replaceAll("'", "''")}'`
}

/** The database of a script: the embedded one, or the one in a deployment's configuration. */
export type Target = 'local' | { config: string }

/** Runs statements and returns the rows of each. It is safe while the local server is running. */
export async function execute(target: Target, sql: string): Promise<Record<string, unknown>[][]> {
  const where = target === 'local' ? ['--local', '--persist-to', STATE_DIR] : ['--remote', '--config', target.config]
  const out = await wranglerOrThrow(['d1', 'execute', 'DB', ...where, '--json', '--command', sql])
  return (JSON.parse(out) as { results: Record<string, unknown>[] }[]).map(({ results }) => results)
}

/** Applies pending migrations to the embedded database of each store. It is safe to repeat. */
export async function migrateLocal(): Promise<void> {
  const [flag, config, ...rest] = localConfig(asked)
  for (const store of boundStores(localText(asked))) {
    const where = ['--local', '--persist-to', STATE_DIR, ...(flag && config ? [flag, config, ...rest] : [])]
    await wranglerOrThrow(['d1', 'migrations', 'apply', databaseBinding(store), ...where])
  }
}
