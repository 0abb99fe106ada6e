import { DAY } from '../../src/lib/time'
import { call, databaseOf, freshKey, type RequestOptions, STORES, stripeConnection } from '../harness'
import { PROJECTS } from '../http/faults'

/** How long a deleted project can be restored. */
export const RESTORABLE = 30 * DAY

type Owned = { project: string; owner: { token: string } }

/** Deletes a project as its owner, by its name. */
export const end = ({ project, owner }: Owned, options: RequestOptions = {}, name = 'Test') =>
  call(`${PROJECTS}/${project}?name=${encodeURIComponent(name)}`, { method: 'DELETE', token: owner.token, ...options })

/** Restores a project as its owner. */
export const restore = ({ project, owner }: Owned, options: RequestOptions = {}) =>
  call(`${PROJECTS}/${project}/restore`, { method: 'POST', token: owner.token, ...options })

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
