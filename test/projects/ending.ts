import { DAY, HOUR } from '../../src/lib/time'
import { advance } from '../clock'
import { call, databaseOf, freshKey, PROJECTS, type RequestOptions, STORES, stripeConnection } from '../harness'
import { keepHouse } from '../inbox/pipeline'

/** How long a deleted project can be restored. */
export const RESTORABLE = 30 * DAY

type Owned = { project: string; owner: { token: string } }

/** Deletes a project as its owner, by its name. */
export const end = ({ project, owner }: Owned, options: RequestOptions = {}, name = 'Test') =>
  call(`${PROJECTS}/${project}?name=${encodeURIComponent(name)}`, { method: 'DELETE', token: owner.token, ...options })

/** Restores a project as its owner. */
export const restore = ({ project, owner }: Owned, options: RequestOptions = {}) =>
  call(`${PROJECTS}/${project}/restore`, { method: 'POST', token: owner.token, ...options })

/**
 * Lets the cron remove the projects whose time is over: from their stores in one pass, and from the directory in the next one
 * at the latest.
 */
export async function removeEnded(): Promise<void> {
  await keepHouse()
  advance(HOUR)
  await keepHouse()
}

/** A project with a key and a Stripe connection. */
export async function connected() {
  const world = await freshKey()
  return { ...world, connection: await stripeConnection(world.secret, world.project) }
}

/** Every row of every database that names a project, by table: what `sqlite_master` lists, not what we remember. */
export async function rowsOfProject(project: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const store of STORES) {
    const database = databaseOf(store)
    const { results } = await database
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND (sql LIKE '%`project_id`%' OR name = 'projects')",
      )
      .all<{ name: string }>()
    for (const { name } of results) {
      const column = name === 'projects' ? 'id' : 'project_id'
      const sql = `SELECT count(*) AS n FROM "${name}" WHERE "${column}" = ?`
      const n = (await database.prepare(sql).bind(project).first<number>('n')) ?? 0
      if (n > 0) found[name] = (found[name] ?? 0) + n
    }
  }
  return found
}
