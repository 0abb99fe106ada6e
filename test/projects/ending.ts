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
        `SELECT t.name AS name, c.name AS column FROM sqlite_master t JOIN pragma_table_info(t.name) c
         WHERE t.type = 'table' AND (c.name = 'project_id' OR t.name = 'projects' AND c.name = 'id')`,
      )
      .all<{ name: string; column: string }>()
    for (const { name, column } of results) {
      const sql = `SELECT count(*) AS n FROM "${name}" WHERE "${column}" = ?`
      const n = (await database.prepare(sql).bind(project).first<number>('n')) ?? 0
      if (n > 0) found[name] = (found[name] ?? 0) + n
    }
  }
  return found
}
