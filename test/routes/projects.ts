import { expect } from 'vitest'
import { call, freshProject, mint, owning, STORE, signedIn } from '../harness'
import { insertNotice } from '../notices/world'
import { may, people, type Rows, read, times } from './row'
import type { World } from './world'

const PROJECTS = '/platform/v1/projects'
const GENERAL = '/console/p/:project/platform/settings/general'
const onProject = (what: string) => ({ action: `project.${what}`, object: (world: World) => world.project })
const end = ({ project, owner }: Pick<World, 'project' | 'owner'>) =>
  call(`${PROJECTS}/${project}?name=Test`, { method: 'DELETE', token: owner.token })
const create = (token: string, name: string) => call(PROJECTS, { method: 'POST', token, json: { name } })

export const PROJECT_ROWS: Rows = {
  'POST /platform/v1/projects': {
    who: { key: true, session: null, scope: 'projects:write' },
    json: { name: 'sample' },
    status: 201,
    audit: { action: 'project.created', object: () => /^prj_/ },
    faults: {
      project_limit_reached: async () => {
        const { token, user } = await signedIn()
        await owning(user, 99)
        expect((await create(token, 'the hundredth')).status).toBe(201)
        return create(token, 'one too many')
      },
    },
    console: {
      'GET /console/projects/new': { policy: 'account' },
      'POST /console/projects': { policy: 'account', fields: { name: 'By form' } },
    },
  },
  'GET /platform/v1/projects': {
    who: { key: true, session: null, scope: 'projects:read' },
    list: { add: ({ owner }, n) => times(n, () => create(owner.token, 'another')) },
    console: { 'GET /console': { policy: 'user' } },
  },
  'GET /platform/v1/projects/:id': {
    who: { ...read('projects:read'), stranger: 404 },
    console: {
      'GET /console/p/:project': {},
      'GET /console/p/:project/steps': {},
      'GET /console/p/:project/platform': {},
      'GET /console/p/:project/platform/settings': {},
      'GET /console/p/:project/reference': {},
      [`GET ${GENERAL}`]: {},
    },
  },
  'PATCH /platform/v1/projects/:id': {
    who: { ...may('admin', 'projects:write'), stranger: 404 },
    json: { name: 'sample' },
    audit: onProject('renamed'),
    console: {
      [`POST ${GENERAL}`]: { fields: { name: 'By form' } },
      [`POST ${GENERAL}/settings`]: {
        role: 'owner',
        ...onProject('settings_changed'),
        fields: { require_passkey: 'true' },
      },
      [`POST ${GENERAL}/consumers`]: {
        ...onProject('settings_changed'),
        fields: { link_hints: 'true', consumer_keys: 'user_id', max_devices: '5' },
      },
      [`POST ${GENERAL}/entitlements`]: {
        ...onProject('settings_changed'),
        fields: { grace_days: '1', renewal_slack_hours: '1' },
      },
      [`POST ${GENERAL}/purchases`]: {
        ...onProject('settings_changed'),
        fields: { refunded_part: 'end', refunded_whole: 'end', dispute_open: 'keep', dispute_lost: 'end' },
      },
      [`POST ${GENERAL}/exposure`]: { ...onProject('settings_changed'), fields: { on_exposure: 'notify' } },
    },
  },
  'DELETE /platform/v1/projects/:id': {
    who: { key: false, session: null, scope: null, confirmed: true },
    query: 'name=Test',
    audit: onProject('deleted'),
    console: {
      [`GET ${GENERAL}/delete`]: { policy: 'projects:read', role: 'owner' },
      [`POST ${GENERAL}/delete`]: { policy: 'projects:read', role: 'owner', fields: { typed: 'Test' } },
    },
  },
  'POST /platform/v1/projects/:id/restore': {
    who: { ...people('owner'), stranger: 404 },
    audit: { ...onProject('restored'), first: end },
    faults: {
      project_purged: async () => {
        const { project, owner } = await freshProject()
        await end({ project, owner })
        await STORE.prepare('UPDATE projects SET purge_at = 1 WHERE id = ?').bind(project).run()
        return call(`${PROJECTS}/${project}/restore`, { method: 'POST', token: owner.token })
      },
    },
    console: { 'POST /console/projects/:id/restore': { policy: 'user' } },
  },
  'GET /platform/v1/audit-log': {
    who: may('admin', 'audit_log:read'),
    list: {
      add: (world, n) => times(n, () => mint(world.owner.token, world.project)),
      filters: [
        'action=api_key.*',
        'action=api_key.minted',
        'object_type=api_key',
        'created_after=2020-01-01T00:00:00Z',
        '',
      ],
    },
    console: {
      'GET /console/p/:project/platform/settings/audit-log': {},
      'GET /console/p/:project/platform/settings/audit-log/csv': {},
    },
  },
  'GET /platform/v1/notices': {
    who: { key: true, session: 'viewer', scope: null },
    list: {
      add: ({ project }, n) => times(n, () => insertNotice(project)),
      filters: ['open=true', 'open=false', 'kind=key_exposed', ''],
    },
    console: { 'GET /console/p/:project/platform/notices': { policy: 'projects:read' } },
  },
  'GET /platform/v1/search': {
    who: { key: true, session: 'viewer', scope: null },
    query: 'q=sample',
    console: { 'GET /console/p/:project/search': { policy: 'projects:read' } },
  },
  'GET /platform/v1/changes': {
    // Each change needs the scope of its object, so that no scope opens or closes the feed.
    who: { key: true, session: 'viewer', scope: null },
    faults: {
      cursor_expired: async () => {
        const { project, owner } = await freshProject()
        return call('/platform/v1/changes?after=chg_00000000_1', { token: owner.token, project })
      },
    },
    console: {
      'GET /console/p/:project/platform/changes': { policy: 'projects:read' },
      'GET /console/p/:project/platform/changes/csv': { policy: 'projects:read' },
    },
  },
}
