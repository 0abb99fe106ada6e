import { and, desc, eq, getTableColumns, lt, ne, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { Fault } from '../lib/fault'
import { newId } from '../lib/ids'
import { members } from '../members/schema'
import { MAX_OWNED_PROJECTS } from './limits'
import { projects } from './schema'

export type Project = typeof projects.$inferSelect
/** A project as one of its members sees it. */
export type MemberProject = Awaited<ReturnType<typeof listMemberProjects>>[number]

/** Reads a project. */
export function findProject(db: Db, id: string) {
  return db.select().from(projects).where(eq(projects.id, id))
}

/** Reads a project with the user's role in it. No row if the user is not a member. */
export function findMemberProject(db: Db, id: string, userId: string) {
  return selectMemberProjects(db).where(and(eq(members.project_id, id), eq(members.user_id, userId)))
}

/** Reads the projects a user is a member of, newest first, starting after the project `before`. */
export function listMemberProjects(db: Db, userId: string, before: string | null, limit: number) {
  return selectMemberProjects(db)
    .where(and(eq(members.user_id, userId), before === null ? undefined : lt(members.project_id, before)))
    .orderBy(desc(members.project_id))
    .limit(limit)
}

function selectMemberProjects(db: Db) {
  return db
    .select({ ...getTableColumns(projects), role: members.role })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.project_id))
}

/** Creates a project with `ownerId` as its owner. @throws {Fault} `project_limit_reached` */
export async function insertProject(db: Db, name: string, ownerId: string, change: Change): Promise<Project> {
  const { now } = change
  const project: Project = { id: newId('prj', now), name, created_by: ownerId, created_at: now }
  const owned = db.$count(members, and(eq(members.user_id, ownerId), eq(members.role, 'owner')))
  const owner = { project_id: project.id, user_id: ownerId, role: 'owner', created_at: now } as const
  const { made } = await batch(db, {
    ...audited(
      db,
      change,
      entry(project.id, 'project.created', name),
      insertWhere(db, projects, project, sql`${owned} < ${MAX_OWNED_PROJECTS}`),
    ),
    // This follows the audit row, which is written only if the project was.
    owner: insertWhere(db, members, owner, sql`changes() > 0`),
    made: findProject(db, project.id),
  })
  if (made.length > 0) return project
  throw new Fault(
    'project_limit_reached',
    `A user can own at most ${MAX_OWNED_PROJECTS} projects, and this user already owns that many.`,
  )
}

/** Renames a project. The same name again changes nothing. @returns null if there is no such project */
export async function renameProject(db: Db, id: string, name: string, change: Change): Promise<Project | null> {
  const renamed = db
    .update(projects)
    .set({ name })
    .where(and(eq(projects.id, id), ne(projects.name, name)))
  const { project } = await batch(db, {
    ...audited(db, change, entry(id, 'project.renamed', name), renamed),
    project: findProject(db, id),
  })
  return project[0] ?? null
}

function entry(id: string, action: string, name: string) {
  return { project_id: id, action, object_type: 'project', object_id: id, details: { name } }
}
