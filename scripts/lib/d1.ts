import { join } from 'node:path'
import { asked, localConfig, localText } from './local-config.ts'
import { LOCAL_DIR, STATE_DIR } from './paths.ts'
import { boundStores, databaseBinding } from './stores-config.ts'
import { wranglerOrThrow } from './wrangler.ts'

/** How long a database may take to answer a script (ms). */
const ANSWERS_WITHIN = 60_000

/** A value as an SQL literal, because `wrangler d1 execute` takes no parameters. */
export function literal(value: string | number): string {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new Error(`${value} is not an integer`)
    return String(value)
  }
  if (value.includes('\0')) throw new Error('an SQL string cannot contain NUL')
  return `'${value.replaceAll("'", "''")}'`
}

/** The databases of a script: the embedded ones, or those in a deployment's configuration. */
export type Target = 'local' | { config: string }

/**
 * Runs statements in the database of a store and returns the rows of each. It is safe while the local server is
 * running.
 *
 * @param store 0 is also the directory
 */
export async function execute(target: Target, sql: string, store = 0): Promise<Record<string, unknown>[][]> {
  const where = target === 'local' ? local() : ['--remote', '--config', target.config]
  const command = ['d1', 'execute', databaseBinding(store), ...where, '--json', '--command', sql]
  const out = await wranglerOrThrow(command, { within: ANSWERS_WITHIN })
  return (JSON.parse(out) as { results: Record<string, unknown>[] }[]).map(({ results }) => results)
}

/** Applies pending migrations to the embedded database of each store, or of some. It is safe to repeat. */
export async function migrateLocal(stores: readonly number[] = boundStores(localText(asked))): Promise<void> {
  for (const store of stores) {
    await wranglerOrThrow(['d1', 'migrations', 'apply', databaseBinding(store), ...local()])
  }
}

/**
 * The embedded databases. They have their own configuration, because the server restarts when its configuration is
 * written.
 */
function local(): string[] {
  const config = localConfig({ stores: asked.stores }, join(LOCAL_DIR, 'd1'))
  return ['--local', '--persist-to', STATE_DIR, ...config]
}
