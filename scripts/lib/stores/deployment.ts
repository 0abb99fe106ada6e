import type { StoreRow } from '../../../src/stores/store.ts'
import { execute, type Target } from '../d1.ts'
import { DEPLOY_CONFIG, deployText } from '../deploy-config.ts'
import { asked, localText } from '../local-config.ts'
import { prepareLocal } from '../prepare.ts'
import { boundStores } from '../stores-config.ts'
import { fail } from '../terminal.ts'

/** Where the stores are, and which of them are bound there. */
export type Deployment = { target: Target; bound: readonly number[] }
/** What the directory knows: what the cron noted about each store, and how many projects each has. */
export type Known = { rows: StoreRow[]; projects: ReadonlyMap<number, number> }

/** The stores of the local server, whose databases are made if they are missing. */
export async function localStores(): Promise<Deployment> {
  await prepareLocal()
  return { target: 'local', bound: boundStores(localText(asked)) }
}

/** The stores of the deployment, as they were bound by the last npm run deploy. */
export function remoteStores(): Deployment {
  const config = deployText()
  if (config === null) {
    fail(`${DEPLOY_CONFIG} is missing. Run npm run deploy first: it writes this file with the ids of the databases.`)
  }
  return { target: { config: DEPLOY_CONFIG }, bound: boundStores(config) }
}

/** Reads what the directory knows about the stores. If it lacks a migration, the script ends and says what to do. */
export async function readDirectory(target: Target): Promise<Known> {
  const sql = [
    'SELECT * FROM stores ORDER BY number',
    'SELECT store, count(*) AS projects FROM projects GROUP BY store',
  ]
  try {
    const [rows = [], counted = []] = await execute(target, sql)
    return {
      rows: rows.map((row) => ({ ...(row as StoreRow), closed: Boolean(row.closed) })),
      projects: new Map(counted.map(({ store, projects }) => [Number(store), Number(projects)])),
    }
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    if (!/no such (table|column)/.test(said)) throw error
    return fail('The directory lacks a migration. Run npm run deploy first: it applies them.')
  }
}

/** The numbers of all stores that the directory knows. */
export function numbersIn({ rows, projects }: Known): number[] {
  return [...new Set([...rows.map(({ number }) => number), ...projects.keys()])]
}
