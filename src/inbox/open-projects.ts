import { not, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isDeleted } from '../tenancy/project'
import { notOnHold } from './held'
import { MAX_OPEN_PROJECTS, MAX_SWEPT_PROJECTS } from './limits'
import { events } from './schema'

const i = alias(events, 'i')

const least = sql`SELECT min(${i.project_id}) FROM ${events} ${i} INDEXED BY events_open WHERE ${i.due_at} IS NOT NULL`
const first = sql`(${least})`
const next = sql`(${least} AND ${i.project_id} > p.id)`

/** Whether the project has open events that are not held: `n` counts those before a project. */
const has = sql`EXISTS (SELECT 1 FROM ${events} ${i} INDEXED BY events_open WHERE ${i.project_id} = p.id AND ${notOnHold(i)})`

/**
 * The projects that have open events, for `WITH RECURSIVE`: a table `p` of their ids, found by skipping from one to the
 * next in the index of open events. Projects all of whose open events are held are among them, and count little. Use it with
 * {@link isOpenProject}.
 */
export const openProjects = sql`p(id, n) AS (
    SELECT ${first}, 0
    UNION ALL
    SELECT ${next}, p.n + ${has} FROM p WHERE p.id IS NOT NULL AND p.n < ${MAX_SWEPT_PROJECTS} LIMIT ${MAX_OPEN_PROJECTS})`

/** As {@link openProjects}, but without a limit: for a task that may pass no project over. */
export const allOpenProjects = sql`p(id) AS (SELECT ${first} UNION ALL SELECT ${next} FROM p WHERE p.id IS NOT NULL)`

/** Whether a row of {@link openProjects} is a project that is not deleted. */
export const isOpenProject = sql`p.id IS NOT NULL AND ${not(isDeleted(sql`p.id`))}`
