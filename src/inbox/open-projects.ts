import { not, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isDeleted } from '../tenancy/project'
import { MAX_SWEPT_PROJECTS } from './limits'
import { events } from './schema'

const i = alias(events, 'i')

/**
 * The projects that have open events, for `WITH RECURSIVE`: a table `p` of their ids, found by skipping from one to the
 * next in the index of open events. Use it with {@link isOpenProject}.
 */
export const openProjects = opened(sql`LIMIT ${MAX_SWEPT_PROJECTS}`)

/** As {@link openProjects}, but without a limit: for a task that may pass no project over. */
export const allOpenProjects = opened(sql``)

function opened(limit: SQL): SQL {
  return sql`p(id) AS (
    SELECT min(${i.project_id}) FROM ${events} ${i} INDEXED BY events_open WHERE ${i.due_at} IS NOT NULL
    UNION ALL
    SELECT (SELECT min(${i.project_id}) FROM ${events} ${i} INDEXED BY events_open
      WHERE ${i.due_at} IS NOT NULL AND ${i.project_id} > p.id)
    FROM p WHERE p.id IS NOT NULL ${limit})`
}

/** Whether a row of {@link openProjects} is a project that is not deleted. */
export const isOpenProject = sql`p.id IS NOT NULL AND ${not(isDeleted(sql`p.id`))}`
