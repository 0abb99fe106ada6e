import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { changes } from './schema'

const before = alias(changes, 'before')

/**
 * Adds changes to the feed of each project, behind the changes before them: one row for each project. It belongs into the batch that
 * makes the changes, and writes nothing where `items` has no rows.
 *
 * @param items a query of `project_id`, `place`, which orders the changes of a project, and `item`, a `StoredChange` as JSON
 */
export function recordChanges(db: Db, items: SQL): Query<void> {
  const last = sql`coalesce((SELECT max(${before.seq}) FROM ${changes} ${before} WHERE ${before.project_id} = i.project_id), 0)`
  return insertFrom(
    db,
    changes,
    {
      project_id: sql`i.project_id`,
      seq: sql`${last} + count(*)`,
      at: sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
      items: sql`json_group_array(json(i.item) ORDER BY i.place)`,
    },
    sql`FROM (${items}) i GROUP BY i.project_id`,
  )
}
