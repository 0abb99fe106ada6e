import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../../src/db/client'
import { type Env, openRuntime } from '../../src/env'
import { storeOfProject } from '../../src/lib/ids'
import { MINUTE } from '../../src/lib/time'
import { listMarked } from '../../src/projects/marks'
import { advance, stopClock } from '../clock'
import {
  bound,
  call,
  captureConsole,
  D1_LOST,
  DIRECTORY,
  databaseOf,
  deliver,
  STORES,
  stripeEvent,
  tampered,
} from '../harness'
import { cron, keepHouse } from '../inbox/pipeline/cron'
import { end } from '../projects/ending'
import { openOnly, queues, type StoreWorld, without, worldIn } from './stores'

const BILLING = '/platform/v1/billing'

const countEvents = (store: number, project: string) =>
  databaseOf(store)
    .prepare("SELECT count(*) AS n, sum(status = 'processed') AS processed FROM events WHERE project_id = ?")
    .bind(project)
    .first<{ n: number; processed: number }>()

/** What a caller with a key gets. */
async function read({ project, secret: token }: StoreWorld, bindings: Partial<Env>) {
  const { status, body } = await call(`${BILLING}/subscriptions`, { token, project, bindings })
  return status === 200 ? 200 : `${status} ${body.code}`
}

/** A delivery by this isolate, which has met the connection before. */
async function knownWorld(store: number) {
  const world = await worldIn(store)
  await deliver(world.connection.id, stripeEvent(), { secret: 'whsec_not_the_one_it_has' })
  return world
}

/** Runs the cron, of which some part may fail. */
async function runCron(bindings: Partial<Env>): Promise<void> {
  await cron(bindings).catch(() => {})
}

afterEach(() => openOnly(...STORES))

describe.each(['throws', 'hangs'] as const)('while store 1 %s', (how) => {
  it('the others take in, process and are swept; its own deliveries wait in its queue and are there once when it is back', async () => {
    captureConsole()
    const [zero, one, two] = [await knownWorld(0), await knownWorld(1), await knownWorld(2)]
    const queue = queues()
    const out = { ...queue.bindings, ...without(1, how) }

    const send = async ({ connection }: StoreWorld) =>
      (await deliver(connection.id, stripeEvent(), { bindings: out })).status
    const [sent, got] = await Promise.all([
      Promise.all([zero, one, two].map(send)),
      Promise.all([zero, one, two].map((world) => read(world, out))),
    ])
    expect(sent).toEqual([200, 200, 200])
    expect(got).toEqual([200, '503 database_unavailable', 200])
    // The messages of 0 and 2 are lost on their way: the sweep finds them, whatever becomes of store 1.
    const spooled = queue.sentTo(1).splice(0)
    expect(spooled).toHaveLength(1)
    for (const store of [0, 2]) expect(queue.sentTo(store).splice(0)).toHaveLength(1)
    for (const { project, store } of [zero, two]) {
      await databaseOf(store).prepare('UPDATE events SET due_at = 1 WHERE project_id = ?').bind(project).run()
    }
    await runCron(out)
    for (const store of [0, 2]) {
      expect(queue.sentTo(store)).toHaveLength(1)
      await queue.deliver(store, out)
    }
    for (const { project, store } of [zero, two]) {
      expect(await countEvents(store, project)).toEqual({ n: 1, processed: 1 })
    }

    // Its own consumer tries again; then it is back.
    queue.sentTo(1).push(...spooled)
    const tried = await queue.deliver(1, out)
    expect([tried.explicitAcks, tried.retryMessages.length]).toEqual([[], 1])
    queue.sentTo(1).push(...spooled, ...spooled)
    await queue.deliver(1)
    expect(await countEvents(1, one.project)).toEqual({ n: 1, processed: 1 })
    expect(await read(one, {})).toBe(200)
  })

  it('new projects go elsewhere, and /healthz names it', async () => {
    captureConsole()
    const { owner } = await worldIn(0)
    await openOnly(1, 2)
    const out = without(1, how)
    const create = async () => {
      const answer = await call('/platform/v1/projects', {
        method: 'POST',
        token: owner.token,
        json: { name: 'New' },
        bindings: out,
      })
      return [answer.status, storeOfProject(answer.body.id)]
    }
    // The cron has not seen that it is out yet: a second choice is made at once.
    expect(await create()).toEqual([201, 2])
    await runCron(out)
    for (let n = 0; n < 4; n++) expect(await create()).toEqual([201, 2])
    const health = await call('/healthz', { bindings: out })
    expect([health.status, health.body.failing]).toEqual([200, [1]])
    await runCron({})
    expect((await call('/healthz')).body.failing).toEqual([])
  })
})

describe.each(['throws', 'hangs'] as const)('while the directory %s', (how) => {
  it('keys, ingest and the consumer of other stores go on; sessions and sign-in are 503', async () => {
    captureConsole()
    const world = await knownWorld(2)
    const { project, secret: token, owner } = world
    const queue = queues()
    const out = { ...queue.bindings, ...without(0, how) }
    expect(await read(world, out)).toBe(200)
    const sent = await deliver(world.connection.id, stripeEvent(), { bindings: out })
    expect(sent.status).toBe(200)
    await queue.deliver(2, out)
    expect(await countEvents(2, project)).toEqual({ n: 1, processed: 1 })
    // At once, because each waits for as long as the directory may take.
    const get = (path: string, token: string) => call(path, { token, project, bindings: out })
    const inDirectory = ['audit-log', 'members', 'invitations']
    const [keys, session, health, ...others] = await Promise.all([
      get('/platform/v1/api-keys', token),
      get(`${BILLING}/subscriptions`, owner.token),
      call('/healthz', { bindings: out }),
      ...inDirectory.map((path) => get(`/platform/v1/${path}`, token)),
    ])
    // Who minted a key is kept with it. Whether they are still a member, nobody can tell.
    expect([keys.status, keys.body.data[0]?.created_by]).toEqual([
      200,
      { user_id: owner.user, email: owner.email, is_member: null },
    ])
    // What concerns members is in the directory, and part of the audit log must not look like the whole log.
    const OUT = [503, 'database_unavailable']
    expect(others.map(({ status, body }) => [status, body.code])).toEqual(inDirectory.map(() => OUT))
    expect([session.status, session.body.code]).toEqual(OUT)
    expect(health.status).toBe(503)
    // The cron keeps the other stores.
    await databaseOf(2)
      .prepare('UPDATE events SET status = ?, due_at = 1 WHERE project_id = ?')
      .bind('queued', project)
      .run()
    await runCron(out)
    expect(queue.sentTo(2)).toHaveLength(1)
  })
})

it('a project that was left half made is removed after an hour; one that is whole stays', async () => {
  captureConsole()
  stopClock()
  const world = await worldIn(2)
  // The directory answers, and fails to commit.
  const DB = tampered(DIRECTORY, ({ sql, run }) => {
    if (/insert into "projects"/i.test(sql)) throw new Error(D1_LOST)
    return run()
  })
  const json = { name: 'Half made' }
  const failed = await call('/platform/v1/projects', {
    method: 'POST',
    token: world.owner.token,
    json,
    bindings: { DB },
  })
  expect(failed.status).toBe(503)
  const left = async () => {
    const { results } = await databaseOf(2)
      .prepare(
        "SELECT p.id, a.action FROM projects p JOIN audit_log a ON a.project_id = p.id WHERE p.name = 'Half made'",
      )
      .all<{ id: string; action: string }>()
    return results
  }
  expect(await left()).toEqual([{ id: expect.stringMatching(/^prj_/), action: 'project.created' }])
  await cron()
  expect(await left()).toHaveLength(1)
  // Within the hour, the directory may still commit it.
  advance(59 * MINUTE)
  await keepHouse()
  expect(await left()).toHaveLength(1)
  advance(2 * MINUTE)
  await keepHouse()
  expect(await left()).toEqual([])
  const { n } =
    (await databaseOf(2)
      .prepare(
        'SELECT count(*) AS n FROM audit_log a WHERE NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = a.project_id)',
      )
      .first<{ n: number }>()) ?? {}
  expect(n).toBe(0)
  expect((await call('/platform/v1/api-keys/self', { token: world.secret, project: world.project })).status).toBe(200)
})

it('a page of deleted projects begins after the one that it is told, so a pass over them ends', async () => {
  const ended = [await worldIn(2), await worldIn(2)]
  for (const world of ended) expect((await end(world, {}, 'In 2')).status).toBeLessThan(300)
  const { directory } = openRuntime(bound, { waitUntil: () => {} })
  const marked = async (after: string, most: number) =>
    (await run(directory, listMarked(directory, 2, after, most))).map(({ id }) => id)
  const all = await marked('', 10)
  const walked: string[] = []
  for (let n = 0; n < all.length; n++) walked.push(...(await marked(walked.at(-1) ?? '', 1)))
  expect([all.length >= 2, walked, await marked(walked.at(-1) ?? '', 1)]).toEqual([true, all, []])
})

it('a commit whose answer is lost makes one project, not another one elsewhere', async () => {
  captureConsole()
  const { owner } = await worldIn(0)
  await openOnly(1, 2)
  const DB = tampered(DIRECTORY, async ({ sql, run }) => {
    const results = await run()
    if (/insert into "projects"/i.test(sql)) throw new Error(D1_LOST)
    return results
  })
  const options = { method: 'POST', token: owner.token, json: { name: 'Once' }, bindings: { DB } }
  expect((await call('/platform/v1/projects', options)).status).toBe(503)
  const { body } = await call('/platform/v1/projects', { token: owner.token })
  expect(body.data.filter(({ name }) => name === 'Once')).toHaveLength(1)
})

it('a delivery that was spooled into the queue of another store is recorded in its own', async () => {
  captureConsole()
  const world = await knownWorld(1)
  const queue = queues()
  const out = { ...queue.bindings, ...without(1, 'throws') }
  expect((await deliver(world.connection.id, stripeEvent(), { bindings: out })).status).toBe(200)
  queue.sentTo(2).push(...queue.sentTo(1).splice(0))
  const result = await queue.deliver(2)
  expect(result.explicitAcks).toHaveLength(1)
  expect(await countEvents(1, world.project)).toMatchObject({ n: 1 })
  await databaseOf(1).prepare('UPDATE events SET due_at = 1 WHERE project_id = ?').bind(world.project).run()
  await runCron(queue.bindings)
  await queue.deliver(1)
  expect(await countEvents(1, world.project)).toEqual({ n: 1, processed: 1 })
})

it('a Queue that never answers holds up neither the cron nor the other stores', async () => {
  captureConsole()
  const [one, two] = [await worldIn(1), await worldIn(2)]
  const queue = queues()
  for (const { connection, project, store } of [one, two]) {
    await deliver(connection.id, stripeEvent(), { bindings: queue.bindings })
    queue.sentTo(store).splice(0)
    await databaseOf(store).prepare('UPDATE events SET due_at = 1 WHERE project_id = ?').bind(project).run()
  }
  const never = () => new Promise<never>(() => {})
  const EVENTS_1 = { send: never, sendBatch: never, metrics: never } as unknown as Queue<unknown>
  await expect(cron({ ...queue.bindings, EVENTS_1 })).rejects.toThrow('store 1, sweep')
  expect(queue.sentTo(2)).toHaveLength(1)
  expect((await call('/healthz')).body.failing).toEqual([1])
})
