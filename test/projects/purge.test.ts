import { beforeEach, describe, expect, it } from 'vitest'
import type { SpooledMessage } from '../../src/inbox/messages'
import { DAY, HOUR, SECOND } from '../../src/lib/time'
import { insertFeatures, insertPlan } from '../catalog/rows'
import { advance, stopClock } from '../clock'
import { insertGrants } from '../entitlements/rows'
import {
  addMember,
  bound,
  call,
  cases,
  D1_LOST,
  DIRECTORY,
  deliver,
  failingD1,
  freshProject,
  invited,
  KEYS,
  lossyQueue,
  mint,
  STORE,
  STORE_NUMBER,
  STORES,
  stripeEvent,
  tamperedD1,
} from '../harness'
import { captureLog, cron, deliverBatch, keepHouse, newWorld, rowsOfAll, settle } from '../inbox/pipeline'
import { insertEvents, insertMinutes, insertPayload, seedEvent } from '../inbox/seeding'
import { told } from '../members/members'
import { end, RESTORABLE, removeEnded, restore, rowsOfProject } from './ending'

beforeEach(() => {
  stopClock()
})

/** A project with rows in every table, in some more than one step deletes. */
async function fullWorld(events = 5) {
  const world = await newWorld()
  const { project, owner, connection } = world
  for (let n = 0; n < 2; n++) await world.send(stripeEvent())
  await settle(world)
  await world.api('/webhooks/replay', { method: 'POST', json: { filter: {}, limit: 10 } })
  await settle(world)
  const seeds = Array.from({ length: events }, (_, n) =>
    seedEvent({ connection: connection.id, received_at: Date.now() - n, refs: [`cus_${n}`] }),
  )
  await insertEvents(project, seeds)
  for (const seed of seeds.slice(0, 210)) await insertPayload(project, seed, '{}')
  await insertMinutes(
    project,
    seeds.map((_, n) => ({ minute: 1000 + n, connection: connection.id, received: 1 })),
  )
  const move =
    "INSERT INTO customer_moves (project_id, ref, moved_at, customer, vendor) VALUES (?, 'u', ?, 'cus_1', 'stripe')"
  await STORE.prepare(move).bind(project, Date.now()).run()
  await STORE.prepare("INSERT INTO payloads (project_id, id, body) VALUES (?, 'pay_old', 'x')").bind(project).run()
  const { key } = await mint(owner.token, project)
  await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
  await insertFeatures(project, 'sso')
  await insertPlan(project, 'pro', 'price_1')
  await insertGrants(project, 'csm_1')
  const rotated = { method: 'POST', project, token: owner.token, json: {} }
  await call('/platform/v1/billing/entitlement-keys/rotate', rotated)
  await addMember(project, 'owner')
  await invited(project)
  return world
}

/** Deletes a project, and lets its 30 days pass. */
async function over(world: Parameters<typeof end>[0]) {
  expect((await end(world)).status).toBe(200)
  advance(RESTORABLE + SECOND)
}

/** Rows that name a project only through others. */
async function orphans(): Promise<unknown[]> {
  return [
    ...(await rowsOfAll('SELECT event_id FROM attempts WHERE event_id NOT IN (SELECT id FROM events)')),
    ...(await rowsOfAll('SELECT key_id FROM retired_secrets WHERE key_id NOT IN (SELECT id FROM api_keys)')),
  ]
}

describe('after 30 days', () => {
  it('nothing is left of the project in any table, and nothing of another one is touched', async () => {
    const [mine, theirs] = [await fullWorld(1200), await fullWorld()]
    const before = await rowsOfProject(theirs.project)
    const all = Object.keys(await rowsOfProject(mine.project))
    expect(all.length).toBeGreaterThan(13)
    await over(mine)
    const { of } = captureLog()
    await removeEnded()
    expect(await rowsOfProject(mine.project)).toEqual({})
    expect(await orphans()).toEqual([])
    expect(of('project_purged')).toMatchObject([{ project_id: mine.project }])
    // The same runs fold old minutes, move `payloads` to `bodies`, pack those, note when connections were last heard of, and count renewals and subscriptions.
    const kept = ({
      minutes: _,
      changes: __,
      connection_hours: ___,
      backfills: ____,
      renewal_counts: _____,
      billing_days: ______,
      payloads = 0,
      bodies = 0,
      packed_bodies = 0,
      ...rest
    }: Record<string, number>) => ({
      ...rest,
      bodies: payloads + bodies + packed_bodies,
    })
    expect(kept(await rowsOfProject(theirs.project))).toEqual(kept(before))
    expect((await call(KEYS, { project: theirs.project, token: theirs.token })).status).toBe(200)
    const dead = await call(KEYS, { project: mine.project, token: mine.token })
    expect([dead.status, dead.body.code]).toEqual([401, 'unknown_key'])
  })

  it('not a moment earlier, and not if an owner has restored it', async () => {
    const world = await newWorld()
    await end(world)
    advance(RESTORABLE - HOUR)
    await keepHouse()
    expect(Object.keys(await rowsOfProject(world.project))).toContain('api_keys')
    const owner = await addMember(world.project, 'owner')
    expect((await restore({ project: world.project, owner })).status).toBe(200)
    advance(2 * HOUR)
    await keepHouse()
    expect((await call(KEYS, { project: world.project, token: world.token })).status).toBe(200)
  })

  it('KV holds nothing of it: a dead key leaves no marker, and those from before end within a minute', async () => {
    const world = await newWorld()
    const { keys } = await bound.KV.list()
    const own = keys.filter(({ name }) => name.includes(world.key.id))
    expect(
      own.map(({ expiration = Number.POSITIVE_INFINITY }) => expiration * SECOND < Date.now() + 70 * SECOND),
    ).toEqual(own.map(() => true))
    for (const { name } of own) await bound.KV.delete(name)
    await end(world)
    await call(KEYS, { project: world.project, token: world.token })
    expect((await bound.KV.list()).keys.filter(({ name }) => name.includes(world.key.id))).toEqual([])
  })

  it('messages of it are acked and write nothing, spooled deliveries too', async () => {
    const world = await newWorld()
    const sent = await world.send(stripeEvent())
    const spooling = lossyQueue()
    const bindings = { DB: failingD1(D1_LOST), EVENTS: spooling.EVENTS }
    expect((await deliver(world.connection.id, stripeEvent(), { bindings })).status).toBe(200)
    const [spooled] = spooling.sent as SpooledMessage[]
    const messages = [{ project_id: world.project, event_id: sent.body.event_ids[0] }, spooled]
    await end(world)
    const ended = await rowsOfProject(world.project)
    expect(await deliverBatch(messages)).toEqual(['ack', 'ack'])
    expect(await rowsOfProject(world.project)).toEqual(ended)
    advance(RESTORABLE + SECOND)
    await removeEnded()
    const { of } = captureLog()
    expect(await deliverBatch(messages)).toEqual(['ack', 'ack'])
    expect(await rowsOfProject(world.project)).toEqual({})
    expect(of('batch')).toMatchObject([{ dropped: 1 }])
    expect(of('spooled_refused')).toHaveLength(1)
  })
})

describe('a purge that fails', () => {
  it('is tried again, and other projects are purged meanwhile', async () => {
    const [first, second] = [await freshProject(), await freshProject()]
    await end(first)
    await over(second)
    const { of } = captureLog()
    const DB = tamperedD1(async ({ sql, values, run }) => {
      if (/^delete from/i.test(sql) && values.flat().includes(first.project)) throw new Error('D1_ERROR: out of memory')
      return run()
    })
    await expect(cron({ DB })).rejects.toThrow('purged_projects')
    for (let runs = 0; runs < 3; runs++) {
      advance(HOUR)
      await cron({ DB }).catch(() => {})
    }
    expect(of('project_not_purged')[0]).toMatchObject({ project_id: first.project })
    expect(await rowsOfProject(second.project)).toEqual({})
    expect(Object.keys(await rowsOfProject(first.project))).toContain('projects')
    advance(HOUR)
    await removeEnded()
    expect(await rowsOfProject(first.project)).toEqual({})
  })

  it('goes on where a run ended: each run keeps to its share of statements', async () => {
    const world = await fullWorld(cases(700))
    await over(world)
    let statements = 0
    const DB = tamperedD1(async ({ statements: n, run }) => {
      statements += n
      // A run ends early, as one does whose statements are used up.
      if (statements > 100 * STORES.length) throw new Error(D1_LOST)
      return run()
    })
    let runs = 0
    for (; Object.keys(await rowsOfProject(world.project)).length > 0; runs++) {
      expect(runs).toBeLessThan(100)
      statements = 0
      await cron({ DB }).catch(() => {})
      advance(HOUR)
    }
    expect(runs).toBeGreaterThan(3)
    expect(await orphans()).toEqual([])
  })
})

describe('the last owner', () => {
  const remove = (project: string) =>
    DIRECTORY.prepare('DELETE FROM members WHERE project_id = ?')
      .bind(project)
      .run()
      .then(() => 'removed')

  it('is still held by the trigger in a project that is not deleted', async () => {
    const { project, owner } = await freshProject()
    await expect(remove(project)).rejects.toThrow('last_owner')
    await end({ project, owner })
    await restore({ project, owner })
    await expect(remove(project)).rejects.toThrow('last_owner')
    await expect(
      DIRECTORY.prepare("UPDATE members SET role = 'viewer' WHERE project_id = ?").bind(project).run(),
    ).rejects.toThrow('last_owner')
  })

  it('goes with a deleted project', async () => {
    const world = await freshProject()
    await end(world)
    expect(await remove(world.project)).toBe('removed')
  })

  it.skipIf(STORE_NUMBER === 0)('is held until the directory knows of the deletion', async () => {
    const { project } = await freshProject()
    await STORE.prepare('UPDATE projects SET deleted_at = 1, purge_at = ? WHERE id = ?')
      .bind(Date.now() + DAY, project)
      .run()
    await expect(remove(project)).rejects.toThrow('last_owner')
  })
})

/** The directory takes no copy of the marks. */
const halfway = () =>
  tamperedD1(async ({ sql, run }) => {
    if (COPYING.test(sql)) throw new Error(D1_LOST)
    return run()
  })
const COPYING =
  /^update "projects" set "deleted_at" = \?, "purge_at" = \? where (\("projects"\."id" = \? and exists|"projects"\."id" = \?( returning|$))/
const erase = ({ owner }: { owner: { token: string } }) => call('/auth/user', { method: 'DELETE', token: owner.token })

describe('an owner who deletes the account while restoring a project', () => {
  /** What is left: a project that is deleted, in its store and in the directory, and goes when its time is over. */
  const isGone = async ({ project, token }: { project: string; token: string }) => {
    expect(told(await call(KEYS, { project, token }))).toEqual([401, 'key_revoked'])
    const marked = await rowsOfAll<{ deleted_at: number | null }>(
      'SELECT deleted_at FROM projects WHERE id = ?',
      project,
    )
    expect(marked.filter(({ deleted_at }) => deleted_at === null)).toEqual([])
    advance(RESTORABLE + SECOND)
    await removeEnded()
    expect(await rowsOfProject(project)).toEqual({})
  }

  it('leaves no live project: the account goes between the check of the role and the change of the store', async () => {
    const world = await newWorld()
    await end(world)
    let erased = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      if (sql.includes('update "projects"') && erased === 0) erased = (await erase(world)).status
      return run()
    })
    expect(told(await restore(world, { bindings: { DB } }))).toEqual([404, 'not_found'])
    expect(erased).toBe(204)
    await isGone(world)
  })

  it.skipIf(STORE_NUMBER === 0)('leaves none if the directory was not reached: the cron deletes it again', async () => {
    const world = await newWorld()
    await end(world)
    expect((await restore(world, { bindings: { DB: halfway() } })).status).toBe(503)
    expect((await erase(world)).status).toBe(204)
    const { of } = captureLog()
    await keepHouse()
    expect(of('ownerless_projects').map(({ project_ids }) => project_ids)).toEqual([[world.project]])
    await isGone(world)
  })
})

describe.skipIf(STORE_NUMBER === 0)('a call that reaches the store but not the directory', () => {
  it('has ended the keys; the caller repeats it, or the cron finishes it', async () => {
    const world = await newWorld()
    const { project, owner, token } = world
    const list = async () => (await call('/platform/v1/projects', { token: owner.token })).body.data[0].deleted_at
    const key = async () => (await call(KEYS, { project, token })).status
    const later = async () => {
      await rowsOfAll('DELETE FROM progress')
      await cron({ EVENTS: lossyQueue().EVENTS })
    }
    expect((await end(world, { bindings: { DB: halfway() } })).status).toBe(503)
    expect([await key(), await list()]).toEqual([401, null])
    await later()
    expect(await list()).not.toBeNull()

    expect((await restore(world, { bindings: { DB: halfway() } })).status).toBe(503)
    expect([await key(), await list()]).toEqual([200, expect.any(String)])
    await later()
    expect(await list()).toBeNull()

    expect((await end(world, { bindings: { DB: halfway() } })).status).toBe(503)
    expect((await end(world)).status).toBe(200)
    expect(await list()).not.toBeNull()
  })

  it('is purged only once the directory has its mark, however long that takes', async () => {
    const world = await freshProject()
    await end(world, { bindings: { DB: halfway() } })
    advance(RESTORABLE + SECOND)
    await removeEnded()
    expect(await rowsOfProject(world.project)).toEqual({})
  })
})
