import { withEmbedded } from './embedded.ts'
import { asked, localText } from './local-config.ts'
import { migrations } from './migrations.ts'
import { boundStores, databaseBinding } from './stores-config.ts'
import { wranglerOrThrow } from './wrangler.ts'

/** How long a database of the account may take to answer a script (ms). */
const ANSWERS_WITHIN = 60_000
/** The table that `wrangler d1 migrations apply` creates and reads. */
const APPLIED = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`

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
 * @param sql one statement, or several
 * @param store 0 is also the directory
 */
export async function execute(
  target: Target,
  sql: string | readonly string[],
  store = 0,
): Promise<Record<string, unknown>[][]> {
  const statements = [sql].flat()
  if (target === 'local') return withEmbedded([store], (of) => executeIn(of(store), statements))
  const where = ['--remote', '--config', target.config]
  const command = ['d1', 'execute', databaseBinding(store), ...where, '--json', '--command', statements.join(';\n')]
  const out = await wranglerOrThrow(command, { within: ANSWERS_WITHIN })
  return (JSON.parse(out) as { results: Record<string, unknown>[] }[]).map(({ results }) => results)
}

async function executeIn(db: D1Database, statements: readonly string[]): Promise<Record<string, unknown>[][]> {
  const answers = await db.batch<Record<string, unknown>>(statements.map((one) => db.prepare(one)))
  return answers.map(({ results }) => results)
}

/**
 * Applies pending migrations to the embedded database of each store, or of some. It is safe to repeat.
 *
 * @param then a statement for the directory, once it has them
 * @throws naming the migration that failed, and the database
 */
export async function migrateLocal(
  stores: readonly number[] = boundStores(localText(asked)),
  then?: string,
): Promise<void> {
  const opened = then === undefined ? stores : [...new Set([0, ...stores])]
  await withEmbedded(opened, async (of) => {
    for (const store of stores) await applyPending(of(store), databaseBinding(store))
    if (then !== undefined) await executeIn(of(0), [then])
  })
}

/** Applies each migration as one transaction. `wrangler d1 migrations apply` starts a runtime for each, which takes ten times as long. */
async function applyPending(db: D1Database, binding: string): Promise<void> {
  await db.prepare(APPLIED).run()
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>()
  const applied = new Set(results.map(({ name }) => name))
  for (const { name, statements } of migrations().filter(({ name }) => !applied.has(name))) {
    const record = db.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name)
    await db.batch([...statements.map((one) => db.prepare(one)), record]).catch((error: Error) => {
      throw new Error(
        `The local database could not be migrated.\nMigration ${name} of ${binding} failed: ${error.message}`,
        { cause: error },
      )
    })
  }
}
