import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { sessions, users } from '../accounts/schema'
import { countNotices } from '../accounts/security-notices'
import { auditedEach, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { valuesOf } from '../db/sql'
import { MAX_OWNED_PROJECTS } from '../tenancy/limits'
import { members, projects } from '../tenancy/schema'

/** A project that enforces single sign-on, which a session passes by. */
export type Bypassed = { id: string; name: string }

/**
 * Reads the projects that enforce single sign-on and to which the user of a session has break-glass access, for the batch that
 * opens the session by other means. A deleted project counts, because the session may restore it.
 */
export function bypassedBy(db: Directory, sessionId: string) {
  return db
    .select({ id: projects.id, name: projects.name })
    .from(sessions)
    .innerJoin(members, and(eq(members.user_id, sessions.user_id), eq(members.break_glass, true)))
    .innerJoin(projects, eq(projects.id, members.project_id))
    .where(and(eq(sessions.id, sessionId), isNotNull(projects.sso_enforced_by)))
    .limit(MAX_OWNED_PROJECTS)
}

/**
 * Writes that a user passes the single sign-on of projects by.
 *
 * @returns the owners of each who may be sent an email about it
 */
export async function recordBypass(
  directory: Directory,
  projectIds: readonly string[],
  userId: string,
  change: Change,
) {
  const ids = valuesOf(projectIds)
  const objects = directory
    .select({ id: sql<string>`${userId}`.as('id'), project_id: sql`${projects.id}`.as('project_id') })
    .from(projects)
    .where(inArray(projects.id, ids))
  const ofProjects = and(inArray(members.project_id, ids), eq(members.role, 'owner'))
  const owners = directory.select({ user_id: members.user_id }).from(members).where(ofProjects)
  const { counted, rows } = await batch(directory, {
    audited: auditedEach(
      directory,
      change,
      { project_id: sql`object.project_id`, action: 'sso.bypassed', object_type: 'member' },
      { objects, most: projectIds.length },
    ),
    counted: countNotices(directory, change.now, inArray(users.id, owners)),
    rows: directory
      .select({ project_id: members.project_id, user_id: members.user_id, email: users.email })
      .from(members)
      .innerJoin(users, eq(users.id, members.user_id))
      .where(ofProjects),
  })
  const may = new Set(counted.map(({ id }) => id))
  return rows.filter(({ user_id }) => may.has(user_id))
}
