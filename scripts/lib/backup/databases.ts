import { migrateLocal } from '../d1.ts'
import { DEPLOY_CONFIG, deployText, trackedText } from '../deploy-config.ts'
import { asked, localText } from '../local-config.ts'
import { readRunning } from '../running.ts'
import { storesIn } from '../stores-config.ts'
import { fail } from '../terminal.ts'
import { wrangler, wranglerOrThrow } from '../wrangler.ts'
import { type Bound, databaseConfig } from './open.ts'

/** The database of a store: that of the local server, or of the deployment. */
export function databaseOf(store: number, remote: boolean): Bound {
  const config = remote ? deployText() : localText(asked)
  if (config === null)
    fail(`${DEPLOY_CONFIG} is missing. Run npm run deploy first: it writes the ids of the databases there.`)
  const found = storesIn(config).find(({ number }) => number === store)
  if (!found) fail(`There is no store ${store}.`)
  return { name: found.database, id: found.id, remote }
}

/** The local database that a backup is restored into, after its migrations. No server may use it. */
export async function emptyLocal(store: number): Promise<Bound> {
  const running = readRunning()
  if (running) {
    fail(
      `The server ${running.url} uses this database. Stop it, or set LOCAL_STATE_DIR=FOLDER to restore into another one.`,
    )
  }
  const bound = databaseOf(store, false)
  await migrateLocal([store])
  return bound
}

/**
 * A database of the account, after its migrations.
 *
 * @param name null: as wrangler.toml names it
 */
export async function emptyRemote(store: number, name: string | null): Promise<Bound> {
  const wanted = name ?? storesIn(trackedText()).find(({ number }) => number === store)?.database
  if (wanted === undefined) fail(`There is no store ${store} in wrangler.toml.`)
  const { code, stdout, stderr } = await wrangler(['d1', 'info', wanted, '--json'])
  if (code !== 0) fail(`There is no database ${wanted}. Make it first: npx wrangler d1 create ${wanted}\n\n${stderr}`)
  const bound = { name: wanted, id: (JSON.parse(stdout) as { uuid: string }).uuid, remote: true }
  await wranglerOrThrow(['d1', 'migrations', 'apply', 'DB', '--remote', '--config', databaseConfig(bound)])
  return bound
}
