import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { changeOf, requireScopes, userOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { timestamp, visibleText } from '../http/fields'
import { cursorBinding, listOf, pageFields, readCursor, toPage } from '../http/page'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { ROLE_SCOPES, ROLES, type Role, type Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import {
  findMemberProject,
  findProject,
  insertProject,
  listMemberProjects,
  type Project as ProjectRow,
  renameProject,
} from './store'

const tag = 'Projects'
const Project = z
  .object({
    id: z.string(),
    name: z.string(),
    created_at: timestamp,
    role: z.enum(ROLES).nullable().describe('Your role in it; null for an API key.'),
  })
  .meta({ id: 'Project' })
const ProjectBody = z.strictObject({ name: visibleText(100) }).meta({ id: 'ProjectName' })
const actors = ['session', 'api_key'] as const

export const projectRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createProject',
      summary: 'Create a project',
      description: 'Its creator becomes the owner. An API key creates on behalf of the user who minted it.',
      tag,
      policy: { actors, scope: 'projects:write', project: false },
      responses: { 201: { description: 'The project.', schema: Project } },
      faults: ['not_a_member'],
    }),
    body(ProjectBody),
    async (c) => {
      const { db } = c.get('rt')
      const actor = c.get('actor')
      const owner = userOf(actor)
      if (actor.type === 'api_key' && !(await findMemberProject(db, actor.project_id, owner))) {
        throw new Fault('not_a_member', 'The user who minted this key has left its project: create as a user instead.')
      }
      const project = await insertProject(db, c.req.valid('json').name, owner, changeOf(c))
      return c.json(present(project, actor.type === 'session' ? 'owner' : null), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listProjects',
      summary: 'List the projects the caller can see',
      description: 'A session sees the projects its user is a member of; an API key sees its own project.',
      tag,
      policy: { actors, scope: 'projects:read', project: false },
      responses: { 200: { description: 'A page of projects.', schema: listOf(Project) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { db } = c.get('rt')
      const actor = c.get('actor')
      const { limit, cursor } = c.req.valid('query')
      const binding = cursorBinding('projects')
      const before = readCursor(binding, cursor)
      if (actor.type === 'api_key') {
        const project = await findProject(db, actor.project_id)
        return c.json({ data: project ? [present(project, null)] : [], has_more: false, next_cursor: null }, 200)
      }
      const rows = await listMemberProjects(db, actor.user_id, before, limit + 1)
      return c.json(
        toPage(
          rows,
          limit,
          binding,
          (row) => row.id,
          (row) => present(row, row.role),
        ),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getProject',
      summary: 'Read a project',
      tag,
      policy: { actors, scope: 'projects:read', project: false },
      responses: { 200: { description: 'The project.', schema: Project } },
      faults: ['not_found'],
    }),
    async (c) => {
      const { project, role } = await reachable(c, c.req.param('id'), 'projects:read')
      return c.json(present(project, role), 200)
    },
  )
  .patch(
    '/:id',
    route({
      id: 'updateProject',
      summary: 'Rename a project',
      tag,
      policy: { actors, scope: 'projects:write', project: false },
      responses: { 200: { description: 'The project.', schema: Project } },
      faults: ['not_found'],
    }),
    body(ProjectBody),
    async (c) => {
      const { project, role } = await reachable(c, c.req.param('id'), 'projects:write')
      const renamed = await renameProject(c.get('rt').db, project.id, c.req.valid('json').name, changeOf(c))
      return c.json(present(renamed ?? project, role), 200)
    },
  )

/** The project of this id, if the caller belongs to it and may do what the scope names. */
async function reachable(
  c: Context<HttpEnv>,
  id: string,
  scope: Scope,
): Promise<{ project: ProjectRow; role: Role | null }> {
  const { db } = c.get('rt')
  const actor = c.get('actor')
  if (actor.type === 'api_key') {
    const project = id === actor.project_id ? await findProject(db, id) : null
    if (project) return { project, role: null }
  } else {
    const project = await findMemberProject(db, id, actor.user_id)
    if (project) {
      requireScopes({ ...actor, project_id: id, scopes: ROLE_SCOPES[project.role] }, [scope])
      return { project, role: project.role }
    }
  }
  throw new Fault('not_found', 'You are a member of no project with this id.')
}

function present(project: ProjectRow, role: Role | null) {
  return { id: project.id, name: project.name, created_at: iso(project.created_at), role }
}
