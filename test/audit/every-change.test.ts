import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { RouteEntry } from '../../src/http/openapi'
import { SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { PAGES, pageIn, submit } from '../console/visit'
import { call, drain, emptyTables, lossyQueue, storedTables } from '../harness'
import { rows, rowsOfAll } from '../inbox/pipeline'
import { nameOf, ROUTES } from '../routes/of-app'
import { type Audit, fieldsIn } from '../routes/row'
import { PAGE_ROWS, ROWS } from '../routes/table'
import { callRoute, expectSampled } from '../routes/walk'
import { newWorld, type World } from '../routes/world'
import { DETAILS, namedIn } from './details'

/*
 * Every change is in the audit log once, whether it was made through the API or in the console, with what it was and the request
 * that made it. The routes are those that the app has: the row of a new one must state it. A call that is repeated changes nothing.
 */

const auditOf = (route: RouteEntry) => (ROWS[nameOf(route)] ?? PAGE_ROWS[nameOf(route)])?.audit
const leavesNone = (route: RouteEntry) => auditOf(route) === null
const named = (routes: RouteEntry[]) => routes.map((route) => [nameOf(route), route] as const)

const changing = ROUTES.filter(({ method, path }) => method !== 'GET' && path.startsWith('/platform/v1/'))
// Not what users do for themselves: test/members asks what accepting, declining and
// leaving write.
const OWN =
  /sign-(in|out)|theme|times|console\/(mode|columns)|sessions|^\/console\/(confirm|passkeys|second-factor)|^\/console\/invitations|\/leave$/
const forms = PAGES.filter(({ method, path }) => method === 'POST' && !OWN.test(path))

/** The id that callers give their requests. */
const CLIENT_ID = { 'X-Request-Id': 'their-own-id' }

let seeded: Record<string, string>
beforeAll(async () => {
  seeded = await storedTables()
})
afterEach(() => emptyTables(seeded))

/** What a call changes when it is repeated a second later: the tables. The others are refused, or find all as they want it. */
const CHANGES_AGAIN: Record<string, string[]> = {
  'POST /platform/v1/api-keys': ['api_keys', 'audit_log', 'changes', 'users'],
  'POST /platform/v1/api-keys/:id/rotate': ['api_keys', 'audit_log', 'changes', 'retired_secrets'],
  'POST /platform/v1/consumers/:consumer/devices/:device/rotate': ['audit_log', 'changes', 'devices'],
  'POST /platform/v1/projects': ['audit_log', 'changes', 'directory_changes', 'members', 'projects'],
  'PUT /platform/v1/consumers/:consumer/devices/:device': ['devices'], // It asks for a new token each time.
  'POST /platform/v1/domains/:id/verify': ['domains'], // First it is tried again, and then looked up.
  'POST /platform/v1/billing/grants': ['audit_log', 'changes', 'grants'],
  'POST /platform/v1/billing/entitlement-keys/rotate': ['audit_log', 'changes', 'entitlement_keys'],
  'POST /platform/v1/billing/connections': ['audit_log', 'changes', 'connections'],
  'PATCH /platform/v1/billing/connections/:id': ['audit_log', 'changes', 'connections'], // It has a secret, which counts as another one.
  // It is tried again, and the endpoint is checked with it.
  'PUT /platform/v1/billing/connections/:id/api-key': [
    'audit_log',
    'changes',
    'connections',
    'vendor_endpoints',
    'vendor_keys',
  ],
  'POST /platform/v1/billing/connections/:id/endpoint': ['vendor_endpoints'], // It is checked again.
  'POST /platform/v1/billing/customers/:vendor/:id/refresh': ['vendor_asks'], // The vendor is asked again.
  'POST /platform/v1/webhook-endpoints': ['audit_log', 'changes', 'webhook_endpoints'],
  'POST /platform/v1/webhook-endpoints/:id/test': ['delivery_runs'],
  'POST /platform/v1/webhook-endpoints/:id/deliveries/:number/resend': ['audit_log', 'changes', 'resends'],
  'POST /platform/v1/webhook-endpoints/:id/resend': ['audit_log', 'changes', 'resends'],
  'POST /platform/v1/sso/connections': ['audit_log', 'directory_changes', 'sso_connections'],
  'PATCH /platform/v1/sso/connections/:id': ['audit_log', 'directory_changes', 'sso_connections'], // As above.
  'POST /platform/v1/sso/connections/:id/test': ['audit_log', 'directory_changes', 'sso_logins', 'sso_tests'],
}

/** A world whose event has been processed, so that it can be replayed, and the audit rows that came since. */
async function newPlace(first?: Audit['first']) {
  const world = await newWorld()
  await drain([{ project_id: world.project, event_id: world.event }], { EVENTS: lossyQueue().EVENTS })
  await first?.(world)
  const columns = 'id, project_id, action, details, request_id, client_request_id, actor_type, actor_id, object_id'
  const all = () => rowsOfAll<{ id: string; details: string | null }>(`SELECT ${columns} FROM audit_log ORDER BY id`)
  const before = new Set((await all()).map(({ id }) => id))
  const added = async () => {
    const rows = (await all()).filter(({ id }) => !before.has(id))
    return rows.map(({ id: _, details, ...row }) => ({ ...row, details: namedIn(world, details) }))
  }
  return { world, added }
}

function expected(world: World, name: string, { action, object }: Audit) {
  const id = object(world)
  return [
    {
      action,
      details: (name in DETAILS ? DETAILS[name] : DETAILS[action]) ?? null,
      request_id: expect.stringMatching(/^req_/),
      client_request_id: CLIENT_ID['X-Request-Id'],
      project_id: action === 'project.created' ? expect.stringMatching(/^prj_/) : world.project,
      actor_type: 'user',
      actor_id: world.owner.user,
      object_id: typeof id === 'string' ? id : expect.stringMatching(id),
    },
  ]
}

/** The tables that a call has changed, by their names. */
async function changedBy(send: () => Promise<unknown>): Promise<string[]> {
  const before = await storedTables()
  await send()
  const after = await storedTables()
  const changed = Object.keys(after).filter((table) => after[table] !== before[table])
  // A project in another store has a row there and one in the directory.
  return [...new Set(changed.map((table) => table.split(' ')[1] ?? ''))].sort()
}

describe('through the API', () => {
  it('states what every call that changes something leaves in the audit log', () => {
    expect(changing.filter((route) => auditOf(route) === undefined).map(nameOf)).toEqual([])
  })

  it.each(named(changing.filter(leavesNone)))('%s leaves none', async (name, route) => {
    stopClock()
    const { world, added } = await newPlace()
    const send = () => callRoute(world, route, { token: world.owner.token })
    expectSampled(route, await send())
    expect(await added()).toEqual([])
    advance(SECOND)
    expect(await changedBy(send)).toEqual(CHANGES_AGAIN[name] ?? [])
  })

  for (const [name, route] of named(changing)) {
    const stated = auditOf(route)
    if (!stated) continue
    it(`${name} leaves one row, ${stated.action}`, async () => {
      stopClock()
      const { world, added } = await newPlace(stated.first)
      const session = route.meta.operation?.policy?.actors.includes('session')
      const json = { ...ROWS[name]?.json, ...(name.endsWith('webhooks/replay') && { dry_run: false }) }
      const send = () =>
        callRoute(world, route, {
          token: session ? world.owner.token : world.secret,
          headers: CLIENT_ID,
          ...(route.meta.body !== undefined && { json }),
        })
      const answer = await send()
      expect(answer.status).toBeLessThan(300)
      expect(await added()).toEqual(expected(world, name, stated))
      advance(SECOND)
      expect(await changedBy(send)).toEqual(CHANGES_AGAIN[name] ?? [])
    })
  }
})

describe('in the console', () => {
  it('states what every form that changes something leaves in the audit log', () => {
    expect(forms.filter((form) => auditOf(form) === undefined).map(nameOf)).toEqual([])
  })

  it.each(named(forms.filter(leavesNone)))('%s leaves none', async (name, page) => {
    const { world, added } = await newPlace()
    expect((await submit(pageIn(world, page), world.owner.token, fieldsIn(world, PAGE_ROWS[name]))).status).toBe(
      PAGE_ROWS[name]?.status ?? 303,
    )
    expect(await added()).toEqual([])
  })

  for (const [name, page] of named(forms)) {
    const stated = auditOf(page)
    if (!stated) continue
    it(`${name} leaves one row, ${stated.action}`, async () => {
      const { world, added } = await newPlace(stated.first)
      const fields = fieldsIn(world, PAGE_ROWS[name])
      const answer = await submit(pageIn(world, page), world.owner.token, fields, { headers: CLIENT_ID })
      expect(answer.status).toBeLessThan(400)
      expect(await added()).toEqual(expected(world, name, stated))
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
