import { describe, expect, it } from 'vitest'
import { projectPaths } from '../../src/console/paths'
import { storeOfConnection, storeOfProject } from '../../src/lib/ids'
import { visit } from '../console/visit'
import { call, databaseOf, deliver, STORES, stripeEvent } from '../harness'
import { cron } from '../inbox/pipeline/cron'
import { countedDatabases, openOnly, queues, type StoreWorld, worldIn } from './stores'

const BILLING = '/platform/v1/billing'

/** An event that was received and processed in the store of its project. */
async function processed(world: StoreWorld) {
  const queue = queues()
  const event = stripeEvent()
  const sent = await deliver(world.connection.id, event, { bindings: queue.bindings })
  expect(sent.status).toBe(200)
  expect(STORES.filter((store) => queue.sentTo(store).length > 0)).toEqual([world.store])
  await queue.deliver(world.store)
  return { id: sent.body.event_ids[0], object: event.data.object.id }
}

describe.each(STORES)('with a project in store %i', (store) => {
  it('keys, sessions, ingest, the consumer, replay, search, health and billing state work, and ids say the store', async () => {
    const world = await worldIn(store)
    const { project, secret: token, owner, connection } = world
    expect([storeOfProject(project), storeOfConnection(connection.id)]).toEqual([store, store])
    const { id, object } = await processed(world)
    const api = (path: string, options = {}) => call(BILLING + path, { token, project, ...options })
    expect((await api(`/webhooks/${id}`)).body.status).toBe('processed')
    const found = await api(`/webhooks/search?ref=${object}`)
    expect(found.body.data.map((row) => row.id)).toEqual([id])
    expect((await api(`/subscriptions/${object}`)).body.id).toBe(object)
    const health = await api('/webhooks/health')
    expect(health.body).toMatchObject({ status: 'degraded', store: { number: store, size_bytes: expect.any(Number) } })

    const queue = queues()
    expect((await api(`/webhooks/${id}/replay`, { method: 'POST', bindings: queue.bindings })).status).toBe(202)
    expect(queue.sentTo(store)).toHaveLength(1)
    await queue.deliver(store)
    expect((await api(`/webhooks/${id}`)).body).toMatchObject({ status: 'processed', processing_attempts: 2 })

    // A session, on pages and in the API.
    const keys = await call('/platform/v1/api-keys', { token: owner.token, project })
    expect(keys.body.data[0]?.created_by).toEqual({ user_id: owner.user, email: owner.email, is_member: true })
    // No pages themselves: customers are listed with the consumers.
    const { start: _, billing, customers: __, ...paths } = projectPaths(project)
    for (const page of [...Object.values(paths), `${billing}/subscriptions`, `${paths.events}/${id}`]) {
      const shown = await visit(page, owner.token)
      expect([page, shown.status]).toEqual([page, 200])
    }
    const log = await call('/platform/v1/audit-log', { token: owner.token, project })
    expect(log.body.data.map((row) => row.action)).toEqual(
      expect.arrayContaining(['project.created', 'api_key.minted', 'connection.created']),
    )
    const made = log.body.data.find((row) => row.action === 'project.created')
    expect(made?.actor).toMatchObject({ email: owner.email })
  })

  it('a request with a key asks that one database, in one trip', async () => {
    const { project, secret: token } = await worldIn(store)
    await call(`${BILLING}/subscriptions`, { token, project })
    for (const path of [`${BILLING}/subscriptions`, `${BILLING}/webhooks`, '/platform/v1/api-keys/self']) {
      const { bindings, trips } = countedDatabases()
      expect((await call(path, { token, project, bindings })).status).toBe(200)
      expect([path, trips]).toEqual([path, { [store]: 1 }])
    }
  })

  it('a delivery and the consumer ask that one database alone', async () => {
    const world = await worldIn(store)
    const queue = queues()
    const { bindings, trips } = countedDatabases()
    const both = { ...queue.bindings, ...bindings }
    for (let n = 0; n < 2; n++) await deliver(world.connection.id, stripeEvent(), { bindings: both })
    await queue.deliver(store, bindings)
    expect(Object.keys(trips)).toEqual([String(store)])
  })

  it('renaming it, and a setting in its catalog, show in the list of projects', async () => {
    const { project, secret: token, owner } = await worldIn(store)
    await call(`/platform/v1/projects/${project}`, { method: 'PATCH', token, project, json: { name: 'Renamed' } })
    const json = { features: {}, plans: {}, settings: { max_devices: 5 } }
    await call(`${BILLING}/catalog`, { method: 'PUT', token, project, json })
    const list = await call('/platform/v1/projects', { token: owner.token })
    expect(list.body.data).toMatchObject([{ id: project, name: 'Renamed', settings: { max_devices: 5 } }])
    expect((await call(`/platform/v1/projects/${project}`, { token, project })).body.name).toBe('Renamed')
  })

  it('a key of it that is used for a project elsewhere is refused as such, and so is one with a project that cannot be', async () => {
    const world = await worldIn(store)
    const other = await worldIn((store + 1) % STORES.length)
    const answer = async (project: string) => {
      const { status, body } = await call('/platform/v1/api-keys/self', { token: world.secret, project })
      return [status, body.code]
    }
    expect(await answer(other.project)).toEqual([401, 'wrong_project'])
    expect(await answer('not-an-id')).toEqual([401, 'wrong_project'])
    const rotated = await call(`/platform/v1/api-keys/${world.key.id}/rotate`, {
      method: 'POST',
      token: world.secret,
      project: world.project,
    })
    expect(rotated.status).toBe(200)
    expect(await answer(other.project)).toEqual([401, 'key_rotated'])
  })
})

it('ids of stores that are not bound are refused without a read', async () => {
  const { secret: token, project, connection, owner } = await worldIn(0)
  const { bindings, trips } = countedDatabases()
  const key = await call('/platform/v1/api-keys/self', { token, project: `${project}zz`, bindings })
  expect([key.status, key.body.code]).toEqual([401, 'wrong_project'])
  const sent = await call(`/ingest/${connection.id.slice(0, -1)}zz0`, { method: 'POST', body: '{}', bindings })
  expect([sent.status, sent.body.code]).toEqual([404, 'unknown_connection'])
  expect(trips).toEqual({})
  const session = await call('/platform/v1/api-keys', { token: owner.token, project: `${project}zz` })
  expect([session.status, session.body.code]).toEqual([403, 'not_a_member'])
})

it('nothing of a project is outside of its store, and nothing of people in a store', async () => {
  for (const store of STORES) await processed(await worldIn(store))
  await cron()
  for (const store of STORES) {
    const database = databaseOf(store)
    const { results: columns } = await database
      .prepare(
        "SELECT m.name AS tbl, p.name AS column FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE '\\_cf%' ESCAPE '\\'",
      )
      .all<{ tbl: string; column: string }>()
    const ofProjects = columns.filter(({ column, tbl }) => column === 'project_id' && tbl !== 'members')
    expect(ofProjects.length).toBeGreaterThan(8)
    for (const { tbl } of ofProjects) {
      const { results } = await database.prepare(`SELECT DISTINCT project_id FROM ${tbl}`).all<{ project_id: string }>()
      expect([tbl, results.filter(({ project_id }) => storeOfProject(project_id) !== store)]).toEqual([tbl, []])
    }
    if (store === 0) continue
    for (const table of ['users', 'sign_in_codes', 'sessions', 'members', 'stores']) {
      expect([table, await database.prepare(`SELECT count(*) AS n FROM ${table}`).first()]).toEqual([table, { n: 0 }])
    }
  }
})

it('the deployment says how each store is', async () => {
  await openOnly(0, 1)
  await cron()
  const { body } = await call('/healthz')
  expect(body.stores.map(({ number, state }) => [number, state])).toEqual([
    [0, 'open'],
    [1, 'open'],
    [2, 'closed'],
  ])
  expect(body.failing).toEqual([])
  for (const { size_bytes, limit_bytes } of body.stores) {
    expect(size_bytes).toBeGreaterThan(10_000)
    expect(limit_bytes).toBe(10_000_000_000)
  }
})
