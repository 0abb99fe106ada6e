import { and, desc, eq, getTableColumns, lt, ne } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import { newId } from '../lib/ids'
import { members } from '../members/schema'
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

/** Creates a project with `ownerId` as its owner. */
export async function insertProject(db: Db, name: string, ownerId: string, change: Change): Promise<Project> {
  const { now } = change
  const project: Project = { id: newId('prj', now), name, created_by: ownerId, created_at: now }
  await batch(db, {
    owner: db.insert(members).values({ project_id: project.id, user_id: ownerId, role: 'owner', created_at: now }),
    ...audited(db, change, entry(project.id, 'project.created', name), db.insert(projects).values(project)),
  })
  return project
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
