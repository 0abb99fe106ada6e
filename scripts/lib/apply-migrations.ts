/*
 * node apply-migrations.ts CONFIG STATE_DIR BINDING…: applies pending migrations to embedded databases, each migration as one
 * transaction. `wrangler d1 migrations apply` starts a runtime for each migration, which takes ten times as long.
 */
import { join } from 'node:path'
import { getPlatformProxy } from 'wrangler'
import { migrations } from './migrations.ts'

/** The table that `wrangler d1 migrations apply` creates and reads. */
const APPLIED = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`

const [configPath = '', stateDir = '', ...bindings] = process.argv.slice(2)
const { env, dispose } = await getPlatformProxy<Record<string, D1Database>>({
  configPath,
  persist: { path: join(stateDir, 'v3') }, // wrangler's folder below the one that its commands are given
  remoteBindings: false,
})
try {
  for (const binding of bindings) await applyTo(binding, env[binding])
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
} finally {
  await dispose()
}

async function applyTo(binding: string, db: D1Database | undefined): Promise<void> {
  if (!db) throw new Error(`There is no database ${binding}.`)
  await db.prepare(APPLIED).run()
  const { results } = await db.prepare('SELECT name FROM d1_migrations').all<{ name: string }>()
  const applied = new Set(results.map(({ name }) => name))
  for (const { name, statements } of migrations().filter(({ name }) => !applied.has(name))) {
    const record = db.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name)
    await db.batch([...statements.map((one) => db.prepare(one)), record]).catch((error: Error) => {
      throw new Error(`Migration ${name} of ${binding} failed: ${error.message}`, { cause: error })
    })
  }
}
