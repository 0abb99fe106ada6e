import { join } from 'node:path'
import { asked, localConfig, localText } from './local-config.ts'
import { migrations } from './migrations.ts'
import { LOCAL_DIR, ROOT, STATE_DIR } from './paths.ts'
import { boundStores, databaseBinding } from './stores-config.ts'
import { sleep } from './terminal.ts'
import { WRANGLER_ENV, wranglerOrThrow } from './wrangler.ts'

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

/** As `wrangler d1 migrations apply` makes it, which also reads what is in it. */
const APPLIED = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`
const RECORD = 'INSERT INTO d1_migrations (name) VALUES (?)'

/**
 * Applies pending migrations to the embedded database of each store, or of some. It is safe to repeat: each migration is one
 * transaction.
 *
 * `wrangler d1 migrations apply` starts a runtime for each migration, which takes ten times as long.
 */
export async function migrateLocal(stores: readonly number[] = boundStores(localText(asked))): Promise<void> {
  // Where nothing is particular to this server, it is wrangler.toml itself.
  const [, configPath = join(ROOT, 'wrangler.toml')] = config()
  Object.assign(process.env, WRANGLER_ENV, { WRANGLER_LOG: 'warn' })
  const { getPlatformProxy } = await import('wrangler')
  const { env, dispose } = await getPlatformProxy<Record<string, D1Database>>({
    configPath,
    persist: { path: join(STATE_DIR, 'v3') }, // wrangler's folder below the one that its commands are given
    remoteBindings: false,
  })
  try {
    for (const store of stores) await applyPending(env[databaseBinding(store)] as D1Database)
  } finally {
    await dispose()
  }
}

async function applyPending(db: D1Database): Promise<void> {
  await whenUnlocked(() => db.prepare(APPLIED).run())
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>()
  const applied = new Set(results.map(({ name }) => name))
  for (const { name, statements } of migrations()) {
    if (applied.has(name)) continue
    const all = [...statements.map((one) => db.prepare(one)), db.prepare(RECORD).bind(name)]
    await whenUnlocked(() => db.batch(all))
  }
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
  return ['--local', '--persist-to', STATE_DIR, ...config()]
}

const config = () => localConfig({ stores: asked.stores }, join(LOCAL_DIR, 'd1'))
