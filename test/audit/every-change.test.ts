import { describe, expect, it } from 'vitest'
import type { RouteEntry } from '../../src/http/openapi'
import { SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { PAGES, pageIn, submit } from '../console/visit'
import { call, drain, lossyQueue } from '../harness'
import { rows, rowsOfAll } from '../inbox/pipeline'
import { nameOf, ROUTES } from '../routes/of-app'
import type { Audit } from '../routes/row'
import { PAGE_ROWS, ROWS } from '../routes/table'
import { callRoute, expectSampled } from '../routes/walk'
import { newWorld, type World } from '../routes/world'

/*
 * Every change is in the audit log once, whether it was made through the API or in the console. The routes are those
 * that the app has: the row of a new one must state it.
 */

const auditOf = (route: RouteEntry) => (ROWS[nameOf(route)] ?? PAGE_ROWS[nameOf(route)])?.audit
const leavesNone = (route: RouteEntry) => auditOf(route) === null
const named = (routes: RouteEntry[]) => routes.map((route) => [nameOf(route), route] as const)

const changing = ROUTES.filter(({ method, path }) => method !== 'GET' && path.startsWith('/platform/v1/'))
// Not what users do for themselves: test/members asks what accepting, declining and
// leaving write.
const OWN = /sign-(in|out)|sessions|^\/console\/(confirm|passkeys|second-factor)|^\/console\/invitations|\/leave$/
const forms = PAGES.filter(({ method, path }) => method === 'POST' && !OWN.test(path))

type Row = { project_id: string; action: string; actor_type: string; actor_id: string; object_id: string }

/** A world whose event has been processed, so that it can be replayed, and the audit rows that came since. */
async function newPlace(first?: Audit['first']) {
  const world = await newWorld()
  await drain([{ project_id: world.project, event_id: world.event }], { EVENTS: lossyQueue().EVENTS })
  await first?.(world)
  const all = () => rowsOfAll<Row & { id: string }>('SELECT * FROM audit_log ORDER BY id')
  const before = new Set((await all()).map(({ id }) => id))
  return { world, added: async () => (await all()).filter(({ id }) => !before.has(id)) }
}

function expected(world: World, { action, object }: Audit) {
  const id = object(world)
  return [
    {
      action,
      project_id: action === 'project.created' ? expect.stringMatching(/^prj_/) : world.project,
      actor_type: 'user',
      actor_id: world.owner.user,
      object_id: typeof id === 'string' ? id : expect.stringMatching(id),
    },
  ]
}

describe('through the API', () => {
  it('states what every call that changes something leaves in the audit log', () => {
    expect(changing.filter((route) => auditOf(route) === undefined).map(nameOf)).toEqual([])
  })

  it.each(named(changing.filter(leavesNone)))('%s leaves none', async (_, route) => {
    const { world, added } = await newPlace()
    expectSampled(route, await callRoute(world, route, { token: world.owner.token }))
    expect(await added()).toEqual([])
  })

  for (const [name, route] of named(changing)) {
    const stated = auditOf(route)
    if (!stated) continue
    it(`${name} leaves one row, ${stated.action}`, async () => {
      const { world, added } = await newPlace(stated.first)
      const session = route.meta.operation?.policy?.actors.includes('session')
      const json = { ...ROWS[name]?.json, ...(name.endsWith('webhooks/replay') && { dry_run: false }) }
      const answer = await callRoute(world, route, {
        token: session ? world.owner.token : world.secret,
        ...(route.meta.body !== undefined && { json }),
      })
      expect(answer.status).toBeLessThan(300)
      expect(await added()).toMatchObject(expected(world, stated))
    })
  }
})

describe('in the console', () => {
  it('states what every form that changes something leaves in the audit log', () => {
    expect(forms.filter((form) => auditOf(form) === undefined).map(nameOf)).toEqual([])
  })

  it.each(named(forms.filter(leavesNone)))('%s leaves none', async (name, page) => {
    const { world, added } = await newPlace()
    expect((await submit(pageIn(world, page), world.owner.token, PAGE_ROWS[name]?.fields)).status).toBe(303)
    expect(await added()).toEqual([])
  })

  for (const [name, page] of named(forms)) {
    const stated = auditOf(page)
    if (!stated) continue
    it(`${name} leaves one row, ${stated.action}`, async () => {
      const { world, added } = await newPlace(stated.first)
      const answer = await submit(pageIn(world, page), world.owner.token, PAGE_ROWS[name]?.fields)
      expect(answer.status).toBeLessThan(400)
      expect(await added()).toMatchObject(expected(world, stated))
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
