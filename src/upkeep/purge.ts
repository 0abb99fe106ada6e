import { type SQL, sql } from 'drizzle-orm'
import { API_KEY_PARTS } from '../api-keys/schema'
import { AUDIT_PARTS } from '../audit/schema'
import { DAYS_PARTS } from '../billing/days/schema'
import { OVERDUE_PARTS } from '../billing/overdue/schema'
import { BILLING_PARTS } from '../billing/schema'
import { CATALOG_PARTS } from '../catalog/schema'
import { CHANGES_PARTS } from '../changes/schema'
import { CONSUMER_PARTS } from '../consumers/schema'
import { batch, type Db, raw, run } from '../db/client'
import type { Part, Parts } from '../db/parts'
import { literals } from '../db/sql'
import { DOMAIN_PARTS } from '../domains/schema'
import type { Runtime } from '../env'
import { FOLLOWER_PARTS } from '../followers/schema'
import { writeLog } from '../http/log'
import { IDEMPOTENCY_PARTS } from '../idempotency/schema'
import { IDENTITY_PARTS } from '../identities/schema'
import { purgeArchivesOf } from '../inbox/archive/retention'
import { INBOX_PARTS } from '../inbox/schema'
import { NOTICE_PARTS } from '../notices/schema'
import { beginPurge, deleteLast, handOver, nextToPurge } from '../projects/purge'
import type { PassStep } from '../tenancy/pass'
import type { Project } from '../tenancy/project'
import { TENANCY_PARTS } from '../tenancy/schema'
import { TOKEN_KEY_PARTS } from '../token-keys/schema'
import { WATCH_PARTS } from '../watch/schema'

/** The tables with rows of projects, room by room, in the order in which they are emptied. */
const PARTS: Parts = {
  ...INBOX_PARTS,
  ...BILLING_PARTS,
  ...OVERDUE_PARTS,
  ...DAYS_PARTS,
  ...CONSUMER_PARTS,
  ...TOKEN_KEY_PARTS,
  ...CATALOG_PARTS,
  ...IDENTITY_PARTS,
  ...DOMAIN_PARTS,
  ...TENANCY_PARTS,
  ...AUDIT_PARTS,
  ...API_KEY_PARTS,
  ...FOLLOWER_PARTS,
  ...WATCH_PARTS,
  ...CHANGES_PARTS,
  ...NOTICE_PARTS,
  ...IDEMPOTENCY_PARTS,
}

/**
 * Deletes the rows of deleted projects that can no longer be restored. This is one step: some rows of one project, which is
 * the next one after the project `after`. The store of a project comes first, with every table. Then the directory, where
 * the project's members are. Its own row is always the last, so that a step that failed is found again.
 *
 * @param failed is told of a project whose step failed. The next pass tries it again, and this one goes on to the others.
 * @returns the project after which the next step continues; null once all are done
 */
export async function purgeProjects(rt: Runtime, after: string, failed: (error: unknown) => void): Promise<PassStep> {
  const { db, store, now } = rt
  const [project] = await run(db, nextToPurge(db, { store, after, now }))
  if (!project) return { done: 0, after: null }
  try {
    const isDone = await purgeSome(rt, project)
    return { done: isDone ? 1 : 0, after: isDone ? project.id : after }
  } catch (error) {
    writeLog('error', 'project_not_purged', { project_id: project.id, store, error: String(error) })
    failed(error)
    return { done: 0, after: project.id }
  }
}

/** @returns whether nothing is left of the project in this database */
async function purgeSome({ db, directory, store, now }: Runtime, project: Project): Promise<boolean> {
  const { id } = project
  // If it was not begun, the project was restored a moment ago.
  if (project.purging_since === null && !(await beginPurge(db, id, now))) return true
  if ((await purgeArchivesOf(db, id)).after !== null) return false
  const table = await firstWithRows(db, id)
  if (table !== null) {
    await deleteRows(db, table, id)
    return false
  }
  if (store !== 0) await handOver(directory, { ...project, purging_since: project.purging_since ?? now })
  await deleteLast(db, id)
  if (store === 0) writeLog('info', 'project_purged', { project_id: id, deleted_at: project.deleted_at })
  return true
}

/** Reads the name of the first table that has rows of a project; null if none has. */
async function firstWithRows(db: Db, id: string): Promise<string | null> {
  // CASE looks no further than the first one. The names are not bound: each table already binds the id, of 100 values at most.
  const cases = Object.entries(PARTS).map(
    ([name, { rows }]) => sql`WHEN EXISTS (SELECT 1 ${rows(id)}) THEN ${literals([name])}`,
  )
  const found = sql<string | null>`CASE ${sql.join(cases, sql` `)} END`
  const [row] = await run(
    db,
    raw(db, { found }, (fields) => sql`SELECT ${fields}`),
  )
  return row?.found ?? null
}

/** Deletes some of the rows of a project from a table. */
async function deleteRows(db: Db, name: string, id: string): Promise<void> {
  const { table, key, rows, most, owned } = PARTS[name] as Part
  const columns = sql.join([...key], sql`, `)
  const some = (fields: SQL) => sql`(SELECT ${fields} ${rows(id)} ORDER BY ${columns} LIMIT ${most})`
  const gone = db.delete(table).where(sql`(${columns}) IN ${some(columns)}`)
  if (!owned) await run(db, gone)
  else await batch(db, { ...owned(db, some), gone })
}
