import { sql } from 'drizzle-orm'
import { audit, type Change } from '../audit/store'
import type { Db } from '../db/client'
import { members, projects } from '../db/schema'
import type { Role } from '../lib/access'
import { newId } from '../lib/ids'

export type Project = typeof projects.$inferSelect
/** A project as one of its members sees it. */
export type MemberProject = Project & { role: Role }

export function findProject(db: Db, id: string): Promise<Project | null> {
  return db.point(sql<Project>`SELECT * FROM ${projects} WHERE id = ${id}`)
}

/** A project with the user's role in it; null where there is none, or the user is no member. */
export function findMemberProject(db: Db, id: string, userId: string): Promise<MemberProject | null> {
  return db.point(sql<MemberProject>`SELECT p.*, m.role FROM ${members} m JOIN ${projects} p ON p.id = m.project_id
    WHERE m.project_id = ${id} AND m.user_id = ${userId}`)
}

/** The projects a user is a member of, newest first, from before the project `before`. */
export function listMemberProjects(
  db: Db,
  userId: string,
  before: string | null,
  limit: number,
): Promise<MemberProject[]> {
  return db.all(sql<MemberProject>`SELECT p.*, m.role FROM ${members} m JOIN ${projects} p ON p.id = m.project_id
    WHERE m.user_id = ${userId} AND m.project_id < ${before ?? '~'} ORDER BY m.project_id DESC LIMIT ${limit}`)
}

/** A new project with `ownerId` as its owner. */
export async function insertProject(db: Db, name: string, ownerId: string, change: Change): Promise<Project> {
  const { now } = change
  const project: Project = { id: newId('prj', now), name, created_by: ownerId, created_at: now }
  await db.batch([
    sql`INSERT INTO ${projects} (id, name, created_by, created_at) VALUES (${project.id}, ${name}, ${ownerId}, ${now})`,
    sql`INSERT INTO ${members} (project_id, user_id, role, created_at) VALUES (${project.id}, ${ownerId}, 'owner', ${now})`,
    audit(
      {
        project_id: project.id,
        action: 'project.created',
        object_type: 'project',
        object_id: project.id,
        details: { name },
      },
      change,
    ),
  ])
  return project
}

/** Renames a project. */
export async function renameProject(db: Db, id: string, name: string, change: Change): Promise<Project | null> {
  const [, , row] = await db.batch([
    sql`UPDATE ${projects} SET name = ${name} WHERE id = ${id} AND name <> ${name}`,
    audit(
      { project_id: id, action: 'project.renamed', object_type: 'project', object_id: id, details: { name } },
      change,
    ),
    sql<Project>`SELECT * FROM ${projects} WHERE id = ${id}`,
  ])
  return row.rows[0] ?? null
}
