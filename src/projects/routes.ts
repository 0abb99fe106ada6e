import { Hono } from 'hono'
import * as z from 'zod'
import { run } from '../db/client'
import type { Actor } from '../http/actor'
import { answer } from '../http/answer'
import { changeOf, sessionOf, userIdOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { exampleOf, named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { noProject } from '../http/policy'
import { read } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, query } from '../http/validate'
import type { Role } from '../lib/access'
import { Fault } from '../lib/fault'
import { DAY, iso } from '../lib/time'
import { RoleName } from '../members/fields'
import { MAX_OWNED_PROJECTS } from '../tenancy/limits'
import { findProject, type Project as ProjectRow } from '../tenancy/project'
import { isElsewhere } from '../tenancy/reach'
import { DEFAULTS, ProjectSettings, settingsOf } from '../tenancy/settings'
import { changeSettingsEverywhere } from './change-settings'
import { createProject } from './create'
import { deleteProject, restoreProject } from './end'
import { ChangeProjectBody, ProjectBody } from './fields'
import { findMemberProject, listMemberProjects } from './in-directory'
import { RESTORABLE_FOR } from './limits'
import { renameEverywhere } from './rename'

const tag = 'Projects'
const Project = named(
  'Project',
  z.object({
    id: z.string(),
    name: z.string(),
    created_at: timestamp,
    settings: ProjectSettings,
    role: RoleName.nullable().describe('Your role in the project. Null for an API key.'),
    deleted_at: timestamp
      .nullable()
      .describe('When an owner deleted the project. Null if it is not deleted. A deleted project is only listed.'),
    purge_at: timestamp
      .nullable()
      .describe('Until when an owner can restore a deleted project. Then its data is removed.'),
  }),
  {
    id: SAMPLE.project,
    name: 'Acme',
    created_at: SAMPLE.time,
    settings: DEFAULTS,
    role: 'owner',
    deleted_at: null,
    purge_at: null,
  },
)
const ListedProject = named(
  'ListedProject',
  Project.extend({
    settings: ProjectSettings.nullable().describe('Null if `sso_required`.'),
    role: RoleName.nullable().describe('Your role in the project. Null for an API key, and if `sso_required`.'),
    sso_required: z
      .string()
      .nullable()
      .describe(
        'The connection to sign in with, because the project enforces it and this session has not: `/auth/sso/start?connection=`. Null if the session acts in the project.',
      ),
  }),
  { ...exampleOf(Project), sso_required: null },
)
const DeleteQuery = z.strictObject({
  name: z.string().max(1000).describe('The name of the project, exactly, as proof that this project is meant.'),
})
const ownerOnly = { actors: ['session'], scope: null, project: false, bounded: true } as const
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
      repeated: async (c, { object_id }) => {
        const { directory } = c.get('rt')
        const actor = c.get('actor')
        const [project] = await run(directory, findMemberProject(directory, object_id, userIdOf(actor)))
        if (!project) throw noProject()
        return answer(c, present(project, actor.type === 'session' ? project.role : null), 201)
      },
    }),
    body(ProjectBody),
    async (c) => {
      const rt = c.get('rt')
      const { directory } = rt
      const actor = c.get('actor')
      const owner = userIdOf(actor)
      const isMember = async (id: string) => (await run(directory, findMemberProject(directory, id, owner))).length > 0
      if (actor.type === 'api_key' && !(await isMember(actor.project_id))) {
        throw new Fault(
          'not_a_member',
          'The user who minted this API key has left its project. Create the project with a console session.',
        )
      }
      const project = await createProject(rt, c.req.valid('json').name, owner, changeOf(c))
      return answer(c, present(project, actor.type === 'session' ? 'owner' : null), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listProjects',
      summary: 'List projects',
      description:
        'A session sees the projects of its user, also deleted ones until their data is removed. A session from single sign-on sees those that it reaches. Of a project that enforces another sign-in, it shows the name, and where to sign in. An API key sees its own project.',
      tag,
      policy: { actors, scope: 'projects:read', project: false, bounded: true, reads: true },
      responses: { 200: { description: 'A page of projects.', schema: listOf(ListedProject) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const rt = c.get('rt')
      const actor = c.get('actor')
      const list = paging('projects', c.req.valid('query'))
      if (actor.type === 'api_key') {
        const { rows } = await read(c, { rows: findProject(rt.db, { id: actor.project_id }) })
        return answer(c, { data: rows.map((row) => listed(row, null, false)), has_more: false, next_cursor: null }, 200)
      }
      const rows = await run(rt.directory, listMemberProjects(rt.directory, actor, list.before, list.take))
      return answer(
        c,
        list.page(rows, (row) => listed(row, row.role, isElsewhere(actor.sso, row))),
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
      const { rows } = await read(c, { rows: findProject(c.get('rt').db, { id: c.req.param('id') }) })
      if (!rows[0]) throw noProject()
      return answer(c, present(rows[0], roleOf(c.get('actor'))), 200)
    },
  )
  .patch(
    '/:id',
    route({
      id: 'updateProject',
      summary: 'Change a project',
      description:
        'Its name, which need not be unique, or its settings. Only the session of an owner changes `require_passkey` and `trusted_connections`, and no API key changes `on_exposure`. Switching `require_passkey` on requires that this session has its second factor. Switching it off, and changing `trusted_connections`, requires a confirmed session.',
      tag,
      policy: { actors, scope: 'projects:write', project: 'path' },
      responses: { 200: { description: 'The project.', schema: Project } },
      faults: ['daily_limit_reached', 'not_found', 'console_session_required', 'confirmation_required'],
    }),
    body(ChangeProjectBody),
    async (c) => {
      const { name, settings } = c.req.valid('json')
      const rt = c.get('rt')
      const id = c.req.param('id')
      // The settings first: their change may be refused.
      const settled =
        settings && (await changeSettingsEverywhere(rt, c.get('actor'), { project_id: id, settings }, changeOf(c)))
      const project = name === undefined ? settled : await renameEverywhere(rt, id, name, changeOf(c))
      if (!project) throw noProject()
      return answer(c, present(project, roleOf(c.get('actor'))), 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'deleteProject',
      summary: 'Delete a project',
      description: `For owners, with a confirmed session. Its API keys and ingest addresses stop working at once, and its events are no longer processed. An owner can restore it for ${RESTORABLE_FOR / DAY} days. Then all of its data is removed. Deleting it again changes nothing and returns the same response.`,
      tag,
      policy: { ...ownerOnly, confirmed: true },
      responses: { 200: { description: 'The deleted project.', schema: Project } },
      faults: ['not_found', 'insufficient_role', 'passkey_required', 'sso_required'],
    }),
    query(DeleteQuery),
    async (c) => {
      const of = { id: c.req.param('id'), session: sessionOf(c) }
      const project = await deleteProject(c.get('rt'), of, c.req.valid('query').name, changeOf(c))
      return answer(c, present(project, project.role), 200)
    },
  )
  .post(
    '/:id/restore',
    route({
      id: 'restoreProject',
      summary: 'Restore a deleted project',
      description:
        'For owners, with a session. Everything works again as before. API keys that were revoked stay revoked. Ingest addresses may take a minute. Restoring a project that is not deleted changes nothing and returns the same response.',
      tag,
      policy: ownerOnly,
      responses: { 200: { description: 'The project.', schema: Project } },
      faults: [
        'daily_limit_reached',
        'not_found',
        'insufficient_role',
        'passkey_required',
        'sso_required',
        'project_purged',
      ],
    }),
    async (c) => {
      const of = { id: c.req.param('id'), session: sessionOf(c) }
      const project = await restoreProject(c.get('rt'), of, changeOf(c))
      return answer(c, present(project, project.role), 200)
    },
  )

function roleOf(actor: Actor): Role | null {
  return actor.type === 'session' ? actor.role : null
}

/** @param elsewhere whether the project requires another sign-in: then, its name is all that the session learns */
function listed(project: ProjectRow, role: Role | null, elsewhere: boolean): z.infer<typeof ListedProject> {
  const shown = { ...present(project, role), sso_required: null }
  return elsewhere ? { ...shown, settings: null, role: null, sso_required: project.sso_enforced_by } : shown
}

function present(project: ProjectRow, role: Role | null): z.infer<typeof Project> {
  const { id, name, created_at, settings, deleted_at, purge_at } = project
  return {
    id,
    name,
    created_at: iso(created_at),
    settings: settingsOf(settings),
    role,
    deleted_at: deleted_at === null ? null : iso(deleted_at),
    purge_at: purge_at === null ? null : iso(purge_at),
  }
}
