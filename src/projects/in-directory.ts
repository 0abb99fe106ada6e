import {
  and,
  type Column,
  desc,
  eq,
  exists,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  lt,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { sessions } from '../accounts/schema'
import type { Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { MAX_OWNED_PROJECTS } from '../tenancy/limits'
import { patched, settingsAudited } from '../tenancy/patched'
import type { Project } from '../tenancy/project'
import { reaches, type Viewer } from '../tenancy/reach'
import { members, projects } from '../tenancy/schema'
import { type DirectoryChange, requires } from '../tenancy/settings'

/** A project as one of its members sees it. */
export type MemberProject = Awaited<ReturnType<typeof listMemberProjects>>[number]

/** Reads a project with the user's role in it. No row if the user is not a member. */
export function findMemberProject(directory: Directory, id: string, userId: string) {
  return selectMemberProjects(directory).where(and(eq(members.project_id, id), eq(members.user_id, userId)))
}

/** Reads the projects a user is a member of and the session reaches, also deleted ones, newest first, starting after the project `before`. */
export function listMemberProjects(directory: Directory, viewer: Viewer, before: string | null, limit: number) {
  return selectMemberProjects(directory).where(ofUser(viewer, before)).orderBy(desc(members.project_id)).limit(limit)
}

/** `text`: a part of the projects' names, whatever the case of ASCII letters, or an id; all projects if it is empty. */
type OpenProjects = { before?: string | null; take: number; text?: string }

/** Reads the projects that a user can open, newest first. With a text, it reads all of the user's projects. */
export function listOpenProjects(
  directory: Directory,
  viewer: Viewer,
  { before = null, take, text = '' }: OpenProjects,
) {
  const named = or(eq(projects.id, text), sql`instr(lower(${projects.name}), lower(${text})) > 0`)
  return selectMemberProjects(directory)
    .where(and(ofUser(viewer, before), isNull(projects.deleted_at), text === '' ? undefined : named))
    .orderBy(desc(members.project_id))
    .limit(take)
}

/** Reads the deleted projects of a user that can still be restored, the last one to be purged first. */
export function listRestorable(directory: Directory, viewer: Viewer, now: number, limit: number) {
  return selectMemberProjects(directory)
    .where(and(ofUser(viewer, null), gt(projects.purge_at, now), isNull(projects.purging_since)))
    .orderBy(desc(projects.purge_at))
    .limit(limit)
}

function ofUser({ user_id, sso }: Viewer, before: string | null) {
  return and(
    eq(members.user_id, user_id),
    reaches(sso, members.project_id),
    before === null ? undefined : lt(members.project_id, before),
  )
}

function selectMemberProjects(directory: Directory) {
  return directory
    .select({ ...getTableColumns(projects), role: members.role, break_glass: members.break_glass })
    .from(members)
    .innerJoin(projects, eq(projects.id, members.project_id))
}

/** Whether a project has an owner. */
export function hasOwner(directory: Directory, projectId: Column | SQL | string): SQL {
  const owner = and(eq(members.project_id, projectId), eq(members.role, 'owner'))
  return exists(directory.select({ one: sql`1` }).from(members).where(owner))
}

/** Whether the user may own another project. */
export function ownsFewer(directory: Directory, userId: string): SQL {
  const owned = directory.$count(members, and(eq(members.user_id, userId), eq(members.role, 'owner')))
  return sql`${owned} < ${MAX_OWNED_PROJECTS}`
}

/** Reads whether the user may own another project. */
export function mayOwnMore(directory: Directory, userId: string) {
  const may = sql<boolean>`${ownsFewer(directory, userId)}`.mapWith(Boolean).as('may')
  return directory.select({ may }).from(sql`(SELECT 1)`)
}

/** Makes the user of a new project its owner, if the statement before it, of the same batch, has written a row. */
export function ownerAdded(directory: Directory, project: Project) {
  const { id, created_by, created_at } = project
  const owner = { project_id: id, user_id: created_by, role: 'owner', created_at } as const
  return insertWhere(directory, members, owner, sql`changes() > 0`)
}

/** Copies a new project of another store, if its user may own one more. */
export function projectCopied(directory: Directory, project: Project) {
  return insertWhere(directory, projects, project, ownsFewer(directory, project.created_by))
}

/** Who changes a setting of a project: the user of a session. */
export type Settler = { id: string; user_id: string }

/**
 * Changes settings of a project that the directory decides, if the user of the session is an owner, and the session has its
 * second factor where a setting requires that.
 *
 * @returns the project as the user sees it then, with the session's second factor; null if the user is no member
 */
export async function changeInDirectory(
  directory: Directory,
  { id, user_id }: Settler,
  { project_id, settings }: { project_id: string; settings: DirectoryChange },
  change: Change,
): Promise<{ project: MemberProject; proved: boolean } | null> {
  const one = { one: sql`1` }
  const after = patched(settings)
  const owner = and(eq(members.project_id, project_id), eq(members.user_id, user_id), eq(members.role, 'owner'))
  const proven = and(eq(sessions.id, id), isNotNull(sessions.second_factor_at))
  const allowed = and(
    eq(projects.id, project_id),
    sql`${after} <> ${projects.settings}`,
    exists(directory.select(one).from(members).where(owner)),
    requires('proved', settings) ? exists(directory.select(one).from(sessions).where(proven)) : undefined,
  )
  const { project, session } = await batch(directory, {
    // Before the change also because the trigger `audit_log_counted` compares the entry with what it replaces.
    audit: settingsAudited(directory, change, { id: project_id, settings }, allowed),
    changed: directory.update(projects).set({ settings: after }).where(allowed),
    project: findMemberProject(directory, project_id, user_id),
    session: directory.select(one).from(sessions).where(proven),
  })
  return project[0] ? { project: project[0], proved: session.length > 0 } : null
}
