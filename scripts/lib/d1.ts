import { join } from 'node:path'
import { asked, localConfig, localText } from './local-config.ts'
import { LOCAL_DIR, ROOT, STATE_DIR } from './paths.ts'
import { boundStores, databaseBinding } from './stores-config.ts'
import { sleep } from './terminal.ts'
import { ran, wranglerOrThrow } from './wrangler.ts'

/** It is a process of its own, because importing wrangler changes how the process that does it fetches and logs. */
const APPLY = join(import.meta.dirname, 'apply-migrations.ts')
/** How long a database may take to answer a script (ms). */
const ANSWERS_WITHIN = 60_000
/** How long a script waits for an embedded database that the local server is writing to (ms). */
const LOCKED_AT_MOST = 30_000

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
  const out = await whenUnlocked(() => wranglerOrThrow(command, { within: ANSWERS_WITHIN }))
  return (JSON.parse(out) as { results: Record<string, unknown>[] }[]).map(({ results }) => results)
}

/**
 * Applies pending migrations to the embedded database of each store, or of some. It is safe to repeat.
 *
 * @throws naming the migration that failed, and the database
 */
export async function migrateLocal(stores: readonly number[] = boundStores(localText(asked))): Promise<void> {
  // With no local settings, wrangler.toml itself is used.
  const [, config = join(ROOT, 'wrangler.toml')] = localSettings()
  await whenUnlocked(async () => {
    const { code, stderr } = await ran([APPLY, config, STATE_DIR, ...stores.map(databaseBinding)])
    if (code !== 0) throw new Error(`The local database could not be migrated.\n${stderr.trim()}`)
  })
}

/**
 * Runs a command again while another process has the embedded database locked. SQLite has done nothing then: statements are one
 * transaction.
 */
async function whenUnlocked<T>(command: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + LOCKED_AT_MOST; ; await sleep(250)) {
    try {
      return await command()
    } catch (error) {
      if (Date.now() > until || !String(error).includes('SQLITE_BUSY')) throw error
    }
  }
}

/**
 * The embedded databases. They have their own configuration, because the server restarts when its configuration is
 * written.
 */
function local(): string[] {
  return ['--local', '--persist-to', STATE_DIR, ...localSettings()]
}

const localSettings = () => localConfig({ stores: asked.stores }, join(LOCAL_DIR, 'd1'))
