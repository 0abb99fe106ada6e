import { describe, expect, it } from 'vitest'
import { iso, MINUTE, SECOND } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import {
  addMember,
  BESIDE,
  call,
  countingD1,
  deliver,
  failingD1,
  freshKey,
  freshProject,
  invited,
  KEYS,
  mint,
  PROJECTS,
  STORE_NUMBER,
  signedIn,
  stripeEvent,
  unconfirm,
} from '../harness'
import { cron, newWorld, rows, settle, stored } from '../inbox/pipeline'
import { captureLog } from '../inbox/pipeline/log'
import { told } from '../members/members'
import { connected, end, RESTORABLE, restore } from './ending'

describe('deleting a project', () => {
  it('is for its owners, with a session and its exact name', async () => {
    const world = await freshKey()
    const { project, owner, secret } = world
    expect(told(await end({ project, owner: { token: secret } }, { project }))).toEqual([
      403,
      'console_session_required',
    ])
    expect(told(await end({ project, owner: await signedIn() }))).toEqual([404, 'not_found'])
    expect(told(await end({ project, owner: await addMember(project, 'admin') }))).toEqual([403, 'insufficient_role'])
    expect(told(await end({ project: 'prj_none', owner }))).toEqual([404, 'not_found'])
    for (const name of ['test', 'Tes', 'Test ', '']) {
      const answer = await end(world, {}, name)
      expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/name'])
    }
    expect((await call(`${PROJECTS}/${project}`, { method: 'DELETE', token: owner.token })).status).toBe(422)
    await unconfirm(owner.user)
    expect(told(await end(world))).toEqual([403, 'confirmation_required'])
    expect((await call(KEYS, { project, token: secret })).status).toBe(200)
  })

  it('says until when it can be restored, and the same when it is repeated', async () => {
    const now = stopClock(Date.now() + SECOND)
    const world = await freshProject()
    advance(SECOND)
    const first = await end(world)
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ id: world.project, role: 'owner', deleted_at: iso(now + SECOND) })
    expect(first.body.purge_at).toBe(iso(now + SECOND + RESTORABLE))
    advance(MINUTE)
    expect((await end(world)).body).toEqual(first.body)
    const actions = await rows<{ action: string }>(
      "SELECT action FROM audit_log WHERE project_id = ? AND action LIKE 'project.%' ORDER BY id",
      world.project,
    )
    expect(actions.map(({ action }) => action)).toEqual(['project.created', 'project.deleted'])
  })

  it('ends keys and sessions at once: nothing of it is there any more, except in lists', async () => {
    const { project, owner, secret, key } = await freshKey()
    const { token, user } = await addMember(project, 'admin')
    await end({ project, owner })
    const answer = await call(KEYS, { project, token: secret })
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      401,
      'key_revoked',
      'The project of this API key was deleted.',
    ])
    for (const one of [owner.token, token]) {
      expect(told(await call(KEYS, { project, token: one }))).toEqual([403, 'not_a_member'])
      expect(told(await call(`${PROJECTS}/${project}`, { token: one }))).toEqual([404, 'not_found'])
      const rename = { method: 'PATCH', token: one, json: { name: 'x' } }
      expect(told(await call(`${PROJECTS}/${project}`, rename))).toEqual([404, 'not_found'])
      const { body } = await call(PROJECTS, { token: one })
      expect(body.data.map(({ id, deleted_at }) => [id, deleted_at !== null])).toEqual([[project, true]])
    }
    const leave = await call(`/platform/v1/members/${user}`, { method: 'DELETE', project, token })
    expect(told(leave)).toEqual([403, 'not_a_member'])
    expect(told(await call(`${KEYS}/${key.id}`, { method: 'DELETE', project, token: secret }))[0]).toBe(401)
  })

  it('answers a key without another trip and without the directory', async () => {
    const world = await freshKey()
    const ask = (DB?: D1Database) =>
      call(KEYS, { project: world.project, token: world.secret, ...(DB && { bindings: { DB } }) })
    const alive = countingD1()
    expect((await ask(alive.DB)).status).toBe(200)
    await end(world)
    const dead = countingD1()
    expect((await ask(dead.DB)).status).toBe(401)
    expect(dead.count.trips).toBe(1 + BESIDE)
    if (STORE_NUMBER === 0) return
    // `DB` alone, without the stores' databases: the directory is out.
    const out = failingD1('D1_ERROR: Network connection lost.')
    const bindings = { DB: Object.assign({}, { prepare: out.prepare, batch: out.batch }) as unknown as D1Database }
    expect(told(await call(KEYS, { project: world.project, token: world.secret, bindings }))).toEqual([
      401,
      'key_revoked',
    ])
  })

  it('costs a read of the role and a write of the mark, and one more for the copy', async () => {
    const world = await freshProject()
    for (const change of [end, restore]) {
      const { DB, count } = countingD1()
      if (change === restore) await unconfirm(world.owner.user) // restoring needs no confirmation
      expect((await change(world, { bindings: { DB } })).status).toBe(200)
      expect(count.trips).toBe(1 + 2 + BESIDE)
      expect(count.rows_written).toBeLessThanOrEqual(7)
    }
  })

  it('turns deliveries away as for an unknown connection, from a warm isolate too, and counts none', async () => {
    const world = await connected()
    expect((await deliver(world.connection.id, stripeEvent())).status).toBe(200)
    await end(world)
    const before = await rows('SELECT * FROM minutes WHERE project_id = ?', world.project)
    for (const secret of [undefined, 'whsec_of_somebody_else']) {
      const answer = await deliver(world.connection.id, stripeEvent(), secret === undefined ? {} : { secret })
      expect(told(answer)).toEqual([404, 'unknown_connection'])
    }
    expect(await rows('SELECT * FROM minutes WHERE project_id = ?', world.project)).toEqual(before)
  })

  it('hides invitations to it, and nobody signs up by one', async () => {
    const world = await freshProject()
    const guest = await signedIn()
    const { id } = await invited(world.project, { email: guest.email })
    const list = async () => (await call('/auth/invitations', { token: guest.token })).body.data.map((row) => row.id)
    const accept = () => call(`/auth/invitations/${id}/accept`, { method: 'POST', token: guest.token })
    expect(await list()).toEqual([id])
    await end(world)
    expect(await list()).toEqual([])
    expect(told(await accept())).toEqual([404, 'not_found'])
    await restore(world)
    expect(await list()).toEqual([id])
    expect((await accept()).status).toBe(200)
  })

  it('frees its name, and counts toward the limit of projects', async () => {
    const { owner, project } = await freshProject()
    await end({ project, owner })
    const again = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Test' } })
    expect(again.status).toBe(201)
    expect((await call(PROJECTS, { token: owner.token })).body.data).toHaveLength(2)
  })
})

describe('the queue of a deleted project', () => {
  it('is dropped with a count, and nothing is sent again until the project is restored', async () => {
    stopClock()
    const world = await newWorld()
    for (let n = 0; n < 3; n++) await world.send(stripeEvent())
    await end(world)
    const { of } = captureLog()
    await world.queue.pump()
    expect(of('batch').map(({ dropped }) => dropped)).toEqual([3])
    expect(world.queue.waiting()).toEqual([])
    advance(10 * MINUTE)
    await cron({ EVENTS: world.queue.EVENTS })
    expect(world.queue.waiting()).toEqual([])
    expect((await stored(world.project)).map(({ status }) => status)).toEqual(['received', 'received', 'received'])

    await restore(world)
    advance(SECOND)
    await settle(world)
    expect((await stored(world.project)).map(({ status }) => status)).toEqual(['processed', 'processed', 'processed'])
  })

  it('stops replays, and does not count as open work of the deployment', async () => {
    stopClock()
    const world = await newWorld()
    for (let n = 0; n < 3; n++) await world.send(stripeEvent())
    await settle(world)
    const replay = await world.api('/webhooks/replay', { method: 'POST', json: { filter: {}, limit: 10 } })
    expect(replay.body.queued).toBe(3)
    await end(world)
    advance(10 * MINUTE)
    await world.queue.pump()
    expect((await stored(world.project)).map(({ status }) => status)).toEqual(['queued', 'queued', 'queued'])
    const token = 'metrics-token-of-at-least-32-characters'
    const metrics = await call('/metrics', { token, bindings: { METRICS_TOKEN: token } })
    const open = metrics.text.split('\n').filter((line) => /^platform_events\{.*status="(received|queued)"/.test(line))
    expect(open.length).toBeGreaterThan(0)
    expect(open.filter((line) => !line.endsWith(' 0'))).toEqual([])
    await restore(world)
    await settle(world)
    const done = await world.api(`/webhooks/replays/${replay.body.replay_id}`)
    expect(done.body).toMatchObject({ processed: 3 })
  })

  it('leaves an event to the worker that holds it, and takes none over from a dead one', async () => {
    stopClock()
    const world = await newWorld()
    await world.send(stripeEvent())
    await rows(
      "UPDATE events SET status = 'processing', tries = 1, attempts = 1, lease_until = 1 WHERE project_id = ?",
      world.project,
    )
    await end(world)
    advance(10 * MINUTE)
    await cron({ EVENTS: world.queue.EVENTS })
    await world.queue.pump()
    expect(await stored(world.project)).toMatchObject([{ status: 'processing', attempts: 1 }])
    await restore(world)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', attempts: 2 }])
  })
})

describe('restoring a project', () => {
  it('brings everything back but keys that were revoked', async () => {
    const start = stopClock()
    const world = await connected()
    const { project, owner, secret } = world
    const other = await mint(owner.token, project)
    await call(`${KEYS}/${other.key.id}`, { method: 'DELETE', project, token: owner.token })
    advance(SECOND)
    await end(world)
    setClock(start + RESTORABLE - SECOND)
    const { token } = await signedIn() // the owner's session has ended in these 30 days
    const admin = await addMember(project, 'admin')
    expect(told(await restore({ project, owner: { token } }))).toEqual([404, 'not_found'])
    expect(told(await restore({ project, owner: admin }))).toEqual([403, 'insufficient_role'])
    const again = await addMember(project, 'owner')
    const restored = await restore({ project, owner: again })
    expect(restored.body).toMatchObject({ id: project, deleted_at: null, purge_at: null })
    expect((await restore({ project, owner: again })).body).toEqual(restored.body)
    expect((await call(KEYS, { project, token: secret })).status).toBe(200)
    expect(told(await call(KEYS, { project, token: other.secret }))).toEqual([401, 'key_revoked'])
    advance(MINUTE)
    expect((await deliver(world.connection.id, stripeEvent())).status).toBe(200)
    const log = await call('/platform/v1/audit-log?action=project.*', { project, token: again.token })
    expect(log.body.data.map(({ action }) => action)).toEqual([
      'project.restored',
      'project.deleted',
      'project.created',
    ])
  })

  it('is too late after 30 days, also if nothing was removed yet', async () => {
    const start = stopClock()
    const world = await freshProject()
    await end(world)
    setClock(start + RESTORABLE)
    const owner = await addMember(world.project, 'owner')
    expect(told(await restore({ project: world.project, owner }))).toEqual([409, 'project_purged'])
  })
})
