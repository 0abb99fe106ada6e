import { describe, expect, it } from 'vitest'
import { SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { PAGES, pathIn, submit } from '../console/visit'
import { insertLink } from '../consumers/rows'
import { failDomain } from '../domains/rows'
import { call, DIRECTORY, drain, lossyQueue } from '../harness'
import { rows, rowsOfAll } from '../inbox/pipeline'
import { callRoute, expectSampled, nameOf, newWorld, ROUTES, SAMPLES, type World } from '../routes'

/*
 * Every change is in the audit log once, whether it was made through the API or in the console. The routes are those
 * that the app has: a new one has to be stated here.
 */

/** What is changed, and whose id the entry has. */
type Stated = { action: string; object: (world: World) => string | RegExp; first?: (world: World) => Promise<unknown> }
type StatedForm = Stated & { fields?: Record<string, string> }

const MINTED = { action: 'api_key.minted', object: () => /^key_/ }
const UPDATED: Stated = { action: 'api_key.updated', object: (world) => world.other.key.id }
const ROTATED = { action: 'api_key.rotated', object: (world: World) => world.other.key.id }
const REVOKED = { action: 'api_key.revoked', object: (world: World) => world.other.key.id }
const PROJECT = { action: 'project.created', object: () => /^prj_/ }
const RENAMED = { action: 'project.renamed', object: (world: World) => world.project }
const ENDED = { action: 'project.deleted', object: (world: World) => world.project }
const RESTORED: Stated = {
  action: 'project.restored',
  object: (world) => world.project,
  first: (world) =>
    call(`/platform/v1/projects/${world.project}?name=Test`, { method: 'DELETE', token: world.owner.token }),
}
const SETTLED = { action: 'project.settings_changed', object: (world: World) => world.project }
const CONNECTED = { action: 'connection.created', object: () => /^con_/ }
const onConnection = (what: string) => ({ action: `connection.${what}`, object: (world: World) => world.connection.id })
const onMember = (what: string) => ({ action: `member.${what}`, object: (world: World) => world.member.user })
const onOwner = (what: string) => ({ action: `member.${what}`, object: (world: World) => world.coOwner.user })
const onSso = (what: string) => ({ action: `sso_connection.${what}`, object: (world: World) => world.sso.id })
const GLASS_TAKEN: Stated = {
  ...onOwner('break_glass_taken'),
  first: ({ coOwner }) =>
    DIRECTORY.prepare('UPDATE members SET break_glass = 1 WHERE user_id = ?').bind(coOwner.user).run(),
}
const UNENFORCED = {
  ...onSso('updated'),
  first: ({ sso }: World) =>
    DIRECTORY.prepare("UPDATE sso_connections SET audience = 'team' WHERE id = ?").bind(sso.id).run(),
}
const onInvitation = (what: string) => ({
  action: `invitation.${what}`,
  object: (world: World) => world.invitation.id,
})
const REPLAYED = { action: 'event.replayed', object: (world: World) => world.event }
const ALL_REPLAYED = { action: 'events.replayed', object: () => /^rpl_/ }

const onConsumer = (what: string) => ({ action: `consumer.${what}`, object: (world: World) => world.consumer })
const UNBLOCKED: Stated = {
  ...onConsumer('unblocked'),
  first: (world) => rows("UPDATE consumers SET state = 'blocked' WHERE id = ?", world.consumer),
}
const DEVICE_REVOKED = { action: 'device.revoked', object: (world: World) => world.device }
const ADDED = { action: 'domain.added', object: () => /^dom_/ }
const RETRIED: Stated = {
  action: 'domain.retried',
  object: (world) => world.domain,
  first: (world) => failDomain(world.domain),
}
const RELEASED = { action: 'domain.deleted', object: (world: World) => world.domain }
const PINNED = { action: 'customer.pinned', object: () => 'cus_1' }
const UNPINNED: Stated = {
  action: 'customer.unpinned',
  object: () => 'cus_1',
  first: ({ project, consumer }) => insertLink(project, 'cus_1', { pinned: consumer }),
}

/** What a product's own servers do all day, which is in no log. */
const TRAFFIC = [
  'POST /platform/v1/consumers',
  'PUT /platform/v1/consumers/:consumer',
  'PATCH /platform/v1/consumers/:consumer',
  'PUT /platform/v1/consumers/:consumer/devices/:device',
  'POST /platform/v1/devices/verify',
  'POST /platform/v1/billing/entitlements/check',
  'POST /platform/v1/billing/plans/:id/preview',
  'POST /platform/v1/consumers/:consumer/entitlements/token',
  'POST /platform/v1/sso/authorize',
  'POST /platform/v1/sso/token',
]
const TRAFFIC_IN_FORMS: Record<string, Record<string, string>> = {
  'POST /console/p/:project/platform/consumers': { external_id: 'by-form' },
  'POST /console/p/:project/platform/consumers/:consumer/edit': { name: 'By form', etag: '*' },
}

const STATED: Record<string, Stated> = {
  'POST /platform/v1/api-keys': MINTED,
  'PATCH /platform/v1/api-keys/:id': UPDATED,
  'POST /platform/v1/api-keys/:id/rotate': ROTATED,
  'DELETE /platform/v1/api-keys/:id': REVOKED,
  'POST /platform/v1/projects': PROJECT,
  'PATCH /platform/v1/projects/:id': RENAMED,
  'DELETE /platform/v1/projects/:id': ENDED,
  'POST /platform/v1/projects/:id/restore': RESTORED,
  'PATCH /platform/v1/members/:user_id': onMember('role_changed'),
  'DELETE /platform/v1/members/:user_id': onMember('removed'),
  'PUT /platform/v1/members/:user_id/break-glass': onOwner('break_glass_given'),
  'DELETE /platform/v1/members/:user_id/break-glass': GLASS_TAKEN,
  'POST /platform/v1/sso/connections': { action: 'sso_connection.created', object: () => /^sso_/ },
  'PATCH /platform/v1/sso/connections/:id': onSso('updated'),
  'DELETE /platform/v1/sso/connections/:id': onSso('deleted'),
  'POST /platform/v1/sso/connections/:id/activate': onSso('activated'),
  'POST /platform/v1/sso/connections/:id/disable': onSso('disabled'),
  'POST /platform/v1/sso/connections/:id/test': onSso('test_started'),
  'DELETE /platform/v1/sso/identities/:id': { action: 'sso_identity.deleted', object: (world) => world.sso.identity },
  'POST /platform/v1/invitations': { action: 'member.invited', object: () => /^inv_/ },
  'POST /platform/v1/invitations/:id/resend': onInvitation('resent'),
  'DELETE /platform/v1/invitations/:id': onInvitation('revoked'),
  'POST /platform/v1/consumers/:consumer/block': onConsumer('blocked'),
  'POST /platform/v1/consumers/:consumer/unblock': UNBLOCKED,
  'POST /platform/v1/consumers/:consumer/merge': onConsumer('merged'),
  'DELETE /platform/v1/consumers/:consumer': onConsumer('erased'),
  'DELETE /platform/v1/consumers/:consumer/devices/:device': DEVICE_REVOKED,
  'PUT /platform/v1/billing/customers/:vendor/:id': PINNED,
  'DELETE /platform/v1/billing/customers/:vendor/:id/pin': UNPINNED,
  'PUT /platform/v1/billing/features/:key': { action: 'feature.updated', object: () => 'unused' },
  'DELETE /platform/v1/billing/features/:key': { action: 'feature.deleted', object: () => 'unused' },
  'POST /platform/v1/billing/plans': { action: 'plan.created', object: () => /^pln_/ },
  'PATCH /platform/v1/billing/plans/:id': { action: 'plan.updated', object: (world) => world.plan },
  'POST /platform/v1/billing/grants': { action: 'grant.created', object: () => /^grt_/ },
  'DELETE /platform/v1/billing/grants/:id': { action: 'grant.revoked', object: (world) => world.grant },
  'POST /platform/v1/billing/entitlement-keys/rotate': {
    action: 'entitlement_key.rotated',
    object: () => /^[\w-]{43}$/,
  },
  'POST /platform/v1/domains': ADDED,
  'POST /platform/v1/domains/:id/verify': RETRIED,
  'DELETE /platform/v1/domains/:id': RELEASED,
  'POST /platform/v1/billing/connections': CONNECTED,
  'PATCH /platform/v1/billing/connections/:id': onConnection('updated'),
  'DELETE /platform/v1/billing/connections/:id': onConnection('deleted'),
  'POST /platform/v1/billing/connections/:id/secrets': onConnection('secret_added'),
  'DELETE /platform/v1/billing/connections/:id/secrets/:secret_id': onConnection('secret_removed'),
  'POST /platform/v1/billing/webhooks/replay': ALL_REPLAYED,
  'POST /platform/v1/billing/webhooks/:event_id/replay': REPLAYED,
}

const KEYS = 'POST /console/p/:project/platform/settings/api-keys'
const CONNECTIONS = 'POST /console/p/:project/platform/billing/connections'
const MEMBERS = 'POST /console/p/:project/platform/settings/members'
const SSO = 'POST /console/p/:project/platform/settings/sso'
const DOMAINS = 'POST /console/p/:project/platform/settings/domains'
const EVENTS = 'POST /console/p/:project/platform/billing/webhooks'
const CONSUMER = 'POST /console/p/:project/platform/consumers/:consumer'
const CUSTOMER = 'POST /console/p/:project/platform/billing/customers/:vendor/:customer'
const SECRET = { signing_secret: 'whsec_9876543210' }

const BILLING = 'POST /console/p/:project/platform/billing'
const A_PLAN = { key: 'sample', name: 'sample', rank: '1', state: 'active' }
const FORMS: Record<string, StatedForm> = {
  'POST /console/projects': { ...PROJECT, fields: { name: 'By form' } },
  'POST /console/p/:project/platform/settings/general': { ...RENAMED, fields: { name: 'By form' } },
  'POST /console/p/:project/platform/settings/general/delete': { ...ENDED, fields: { typed: 'Test' } },
  'POST /console/projects/:id/restore': RESTORED,
  'POST /console/p/:project/platform/settings/general/consumers': {
    ...SETTLED,
    fields: { link_hints: 'true', consumer_keys: 'user_id', max_devices: '5' },
  },
  'POST /console/p/:project/platform/settings/general/entitlements': {
    ...SETTLED,
    fields: { grace_days: '1', renewal_slack_hours: '1' },
  },
  [`${BILLING}/features`]: {
    ...{ action: 'feature.created', object: () => 'sample' },
    fields: { key: 'sample', name: 'sample', type: 'boolean' },
  },
  [`${BILLING}/features/:key/edit`]: {
    ...{ action: 'feature.updated', object: () => 'unused' },
    fields: { name: 'sample' },
  },
  [`${BILLING}/features/:key/delete`]: { action: 'feature.deleted', object: () => 'unused' },
  [`${BILLING}/plans`]: { action: 'plan.created', object: () => /^pln_/, fields: A_PLAN },
  [`${BILLING}/plans/:plan/edit`]: {
    ...{ action: 'plan.updated', object: (world) => world.plan },
    fields: { ...A_PLAN, step: 'save', etag: '"1"' },
  },
  [`${CONSUMER}/grants`]: {
    ...{ action: 'grant.created', object: () => /^grt_/ },
    fields: { does: 'deny', feature: 'sso' },
  },
  [`${CONSUMER}/grants/:grant/revoke`]: { action: 'grant.revoked', object: (world) => world.grant },
  'POST /console/p/:project/platform/settings/general/settings': { ...SETTLED, fields: { require_passkey: 'true' } },
  [KEYS]: { ...MINTED, fields: { name: 'By form', scope: 'billing:read' } },
  [`${KEYS}/:id/edit`]: { ...UPDATED, fields: { name: 'By form' } },
  [`${KEYS}/:id/rotate`]: ROTATED,
  [`${KEYS}/:id/revoke`]: REVOKED,
  [CONNECTIONS]: { ...CONNECTED, fields: { vendor: 'stripe', name: 'By form', livemode: 'true', ...SECRET } },
  [`${CONNECTIONS}/:id`]: { ...onConnection('updated'), fields: { name: 'By form' } },
  [`${CONNECTIONS}/:id/delete`]: onConnection('deleted'),
  [`${CONNECTIONS}/:id/secrets`]: { ...onConnection('secret_added'), fields: SECRET },
  [`${CONNECTIONS}/:id/secrets/:secret/remove`]: onConnection('secret_removed'),
  [`${SSO}/:connection/test`]: onSso('test_started'),
  [`${MEMBERS}/invitations`]: {
    action: 'member.invited',
    object: () => /^inv_/,
    fields: { email: 'by-form@example.com', role: 'viewer', expires_in_days: '7' },
  },
  [`${MEMBERS}/invitations/:id/resend`]: onInvitation('resent'),
  [`${MEMBERS}/invitations/:id/revoke`]: onInvitation('revoked'),
  [`${MEMBERS}/:user/role`]: { ...onMember('role_changed'), fields: { role: 'admin', from: 'developer' } },
  [`${MEMBERS}/:user/remove`]: onMember('removed'),
  [`${MEMBERS}/:user/break-glass`]: { ...onOwner('break_glass_given'), fields: { on: 'true' } },
  [SSO]: {
    action: 'sso_connection.created',
    object: () => /^sso_/,
    fields: {
      audience: 'team',
      name: 'By form',
      issuer: 'https://sample.plain.dev',
      client_id: 'rp',
      client_secret: 's3cret',
    },
  },
  [`${SSO}/:id`]: { ...onSso('updated'), fields: { audience: 'customers', name: 'By form', client_id: 'rp' } },
  [`${SSO}/:id/activate`]: onSso('activated'),
  [`${SSO}/:id/disable`]: onSso('disabled'),
  [`${SSO}/:id/enforce`]: { ...UNENFORCED, fields: { enforce: 'false' } },
  [`${SSO}/:id/delete`]: onSso('deleted'),
  [DOMAINS]: { ...ADDED, fields: { hostname: 'by-form.dev', purpose: 'surface' } },
  [`${DOMAINS}/:domain/verify`]: RETRIED,
  [`${DOMAINS}/:domain/delete`]: RELEASED,
  [`${CONSUMER}/block`]: onConsumer('blocked'),
  [`${CONSUMER}/unblock`]: UNBLOCKED,
  [`${CONSUMER}/merge`]: { ...onConsumer('merged'), fields: { into: 'ext:survivor' } },
  [`${CONSUMER}/erase`]: { ...onConsumer('erased'), fields: { typed: 'sample' } },
  [`${CONSUMER}/devices/:device/revoke`]: DEVICE_REVOKED,
  [`${CONSUMER}/identities/:identity/remove`]: {
    action: 'sso_identity.deleted',
    object: (world) => world.identity,
  },
  [`${CUSTOMER}/consumer`]: { ...PINNED, fields: { consumer: 'ext:sample' } },
  [`${CUSTOMER}/consumer/new`]: { ...PINNED, fields: { external_id: 'by-form' } },
  [`${CUSTOMER}/nobody`]: PINNED,
  [`${CUSTOMER}/unpin`]: UNPINNED,
  [`${EVENTS}/replay`]: { ...ALL_REPLAYED, fields: { search: '' } },
  [`${EVENTS}/:event/replay`]: REPLAYED,
}

const changing = ROUTES.filter(({ method, path }) => method !== 'GET' && path.startsWith('/platform/v1/'))
// Not what users do for themselves: test/members asks what accepting, declining and
// leaving write.
const OWN = /sign-(in|out)|sessions|^\/console\/(confirm|passkeys|second-factor)|^\/console\/invitations|\/leave$/
const forms = PAGES.filter(({ method, path }) => method === 'POST' && !OWN.test(path))

type Row = { project_id: string; action: string; actor_type: string; actor_id: string; object_id: string }

/** A world whose event has been processed, so that it can be replayed, and the audit rows that came since. */
async function newPlace(first: Stated['first'] = undefined) {
  const world = await newWorld()
  await drain([{ project_id: world.project, event_id: world.event }], { EVENTS: lossyQueue().EVENTS })
  await first?.(world)
  const all = () => rowsOfAll<Row & { id: string }>('SELECT * FROM audit_log ORDER BY id')
  const before = new Set((await all()).map(({ id }) => id))
  return { world, added: async () => (await all()).filter(({ id }) => !before.has(id)) }
}

function expected(world: World, { action, object }: Stated, actor: { type: string; id: string }) {
  const id = object(world)
  return [
    {
      action,
      project_id: action === 'project.created' ? expect.stringMatching(/^prj_/) : world.project,
      actor_type: actor.type,
      actor_id: actor.id,
      object_id: typeof id === 'string' ? id : expect.stringMatching(id),
    },
  ]
}

describe('through the API', () => {
  it('states what every call that changes something leaves in the audit log', () => {
    expect(changing.map(nameOf).sort()).toEqual([...Object.keys(STATED), ...TRAFFIC].sort())
  })

  it.each(TRAFFIC)('%s leaves none', async (name) => {
    const { world, added } = await newPlace()
    const route = changing.find((one) => nameOf(one) === name) as (typeof changing)[0]
    expectSampled(route, await callRoute(world, route, { token: world.owner.token }))
    expect(await added()).toEqual([])
  })

  for (const route of changing.filter((one) => !TRAFFIC.includes(nameOf(one)))) {
    const name = nameOf(route)
    const stated = STATED[name] as Stated
    it(`${name} leaves one row, ${stated?.action}`, async () => {
      const { world, added } = await newPlace(stated.first)
      const session = route.meta.operation?.policy?.actors.includes('session')
      const json = { ...SAMPLES[name]?.json, ...(name.endsWith('webhooks/replay') && { dry_run: false }) }
      const answer = await callRoute(world, route, {
        token: session ? world.owner.token : world.secret,
        ...(route.meta.body !== undefined && { json }),
      })
      expect(answer.status).toBeLessThan(300)
      expect(await added()).toMatchObject(expected(world, stated, { type: 'user', id: world.owner.user }))
    })
  }
})

describe('in the console', () => {
  it('states what every form that changes something leaves in the audit log', () => {
    expect(forms.map(nameOf).sort()).toEqual([...Object.keys(FORMS), ...Object.keys(TRAFFIC_IN_FORMS)].sort())
  })

  it.each(Object.entries(TRAFFIC_IN_FORMS))('%s leaves none', async (name, fields) => {
    const { world, added } = await newPlace()
    const page = forms.find((one) => nameOf(one) === name) as (typeof forms)[0]
    expect((await submit(pathIn(world, page), world.owner.token, fields)).status).toBe(303)
    expect(await added()).toEqual([])
  })

  for (const page of forms.filter((one) => !(nameOf(one) in TRAFFIC_IN_FORMS))) {
    const stated = FORMS[nameOf(page)] as StatedForm
    it(`${nameOf(page)} leaves one row, ${stated?.action}`, async () => {
      const { world, added } = await newPlace(stated.first)
      const answer = await submit(pathIn(world, page), world.owner.token, stated.fields)
      expect(answer.status).toBeLessThan(400)
      expect(await added()).toMatchObject(expected(world, stated, { type: 'user', id: world.owner.user }))
    })
  }
})

describe('what changes nothing', () => {
  it.each<[string, (world: World) => Promise<unknown>]>([
    [
      'a rename to the same name',
      async ({ project, owner }) => {
        const rename = () =>
          call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner.token, json: { name: 'Same' } })
        await rename()
        expect((await rename()).body.name).toBe('Same')
      },
    ],
    [
      'a second revocation',
      async ({ project, owner, other }) => {
        const path = `/platform/v1/api-keys/${other.key.id}`
        stopClock()
        const ended = () => rows('SELECT revoked_at FROM api_keys WHERE id = ?', other.key.id)
        await call(path, { method: 'DELETE', token: owner.token, project })
        const first = await ended()
        advance(SECOND)
        await call(path, { method: 'DELETE', token: owner.token, project })
        expect(await ended()).toEqual(first)
      },
    ],
    [
      'a second removal of a secret',
      async ({ project, owner, connection }) => {
        const path = `/platform/v1/billing/connections/${connection.id}/secrets/${connection.secrets[0]?.id}`
        await call(path, { method: 'DELETE', token: owner.token, project })
        expect((await call(path, { method: 'DELETE', token: owner.token, project })).status).toBe(404)
      },
    ],
    [
      'a replay of an event whose replay is on its way',
      async ({ project, owner, event }) => {
        const path = `/platform/v1/billing/webhooks/${event}/replay`
        const options = { method: 'POST', token: owner.token, project, bindings: { EVENTS: lossyQueue().EVENTS } }
        await call(path, options)
        expect((await call(path, options)).body.replay.deduplicated).toBe(true)
      },
    ],
  ])('%s leaves no second row', async (_, twice) => {
    const { world, added } = await newPlace()
    await twice(world)
    expect(await added()).toHaveLength(1)
  })
})
