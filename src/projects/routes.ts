import { Hono } from 'hono'
import * as z from 'zod'
import { run } from '../db/client'
import { type Actor, changeOf, userOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, query } from '../http/validate'
import type { Role } from '../lib/access'
import { Fault } from '../lib/fault'
import { iso } from '../lib/time'
import { RoleName } from '../members/fields'
import { changeSettingsEverywhere } from './change-settings'
import { createProject } from './create'
import { findMemberProject, listMemberProjects } from './directory-store'
import { ChangeProjectBody, ProjectBody, ProjectSettings } from './fields'
import { MAX_OWNED_PROJECTS } from './limits'
import { renameEverywhere } from './rename'
import { settingsOf } from './settings'
import { findProject, type Project as ProjectRow } from './store'

const tag = 'Projects'
const Project = named(
  'Project',
  z.object({
    id: z.string(),
    name: z.string(),
    created_at: timestamp,
    settings: ProjectSettings,
    role: RoleName.nullable().describe('Your role in the project. Null for an API key.'),
  }),
  { id: SAMPLE.project, name: 'Acme', created_at: SAMPLE.time, settings: { require_passkey: false }, role: 'owner' },
)
const actors = ['session', 'api_key'] as const

export const projectRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createProject',
      summary: 'Create a project',
      description: `The creator becomes its owner. An API key creates the project on behalf of the user who minted it. A user can own ${MAX_OWNED_PROJECTS} projects.`,
      tag,
      policy: { actors, scope: 'projects:write', project: false },
      responses: { 201: { description: 'The project.', schema: Project } },
      faults: ['not_a_member', 'project_limit_reached'],
    }),
    body(ProjectBody),
    async (c) => {
      const rt = c.get('rt')
      const { directory } = rt
      const actor = c.get('actor')
      const owner = userOf(actor)
      const isMember = async (id: string) => (await run(directory, findMemberProject(directory, id, owner))).length > 0
      if (actor.type === 'api_key' && !(await isMember(actor.project_id))) {
        throw new Fault(
          'not_a_member',
          'The user who minted this API key has left its project. Create the project with a console session.',
        )
      }
      const project = await createProject(rt, c.req.valid('json').name, owner, changeOf(c))
      return c.json(present(project, actor.type === 'session' ? 'owner' : null), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listProjects',
      summary: 'List projects',
      description: 'A session sees the projects of its user. An API key sees its own project.',
      tag,
      policy: { actors, scope: 'projects:read', project: false, reads: true },
      responses: { 200: { description: 'A page of projects.', schema: listOf(Project) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const rt = c.get('rt')
      const actor = c.get('actor')
      const list = paging('projects', c.req.valid('query'))
      if (actor.type === 'api_key') {
        const { rows } = await read(c, { rows: findProject(rt.db, actor.project_id) })
        return c.json({ data: rows.map((row) => present(row, null)), has_more: false, next_cursor: null }, 200)
      }
      const rows = await run(rt.directory, listMemberProjects(rt.directory, actor.user_id, list.before, list.take))
      return c.json(
        list.page(rows, (row) => present(row, row.role)),
        200,
      )
    },
  )
  .get(
    '/:id',
    route({
      id: 'getProject',
      summary: 'Get a project',
      description: 'With an API key, only its own.',
      tag,
      policy: { actors, scope: 'projects:read', project: 'path', reads: true },
      responses: { 200: { description: 'The project.', schema: Project } },
      faults: ['not_found'],
    }),
    async (c) => {
      const { rows } = await read(c, { rows: findProject(c.get('rt').db, c.req.param('id')) })
      if (!rows[0]) throw notFound()
      return c.json(present(rows[0], roleOf(c.get('actor'))), 200)
    },
  )
  .patch(
    '/:id',
    route({
      id: 'updateProject',
      summary: 'Change a project',
      description:
        'Its name, which need not be unique, or its settings. Only the session of an owner changes settings. Switching `require_passkey` on requires that this session has its second factor.',
      tag,
      policy: { actors, scope: 'projects:write', project: 'path' },
      responses: { 200: { description: 'The project.', schema: Project } },
      faults: ['not_found', 'console_session_required'],
    }),
    body(ChangeProjectBody),
    async (c) => {
      const { name, settings } = c.req.valid('json')
      const rt = c.get('rt')
      const id = c.req.param('id')
      // The settings first: their change may be refused.
      const settled = settings && (await changeSettingsEverywhere(rt, c.get('actor'), id, settings, changeOf(c)))
      const project = name === undefined ? settled : await renameEverywhere(rt, id, name, changeOf(c))
      if (!project) throw notFound()
      return c.json(present(project, roleOf(c.get('actor'))), 200)
    },
  )

function roleOf(actor: Actor): Role | null {
  return actor.type === 'session' ? actor.role : null
}

function notFound(): Fault {
  return new Fault('not_found', 'Project not found, or you are not a member of it.')
}

function present(project: ProjectRow, role: Role | null) {
  const { id, name, created_at, settings } = project
  return { id, name, created_at: iso(created_at), settings: settingsOf(settings), role }
}
