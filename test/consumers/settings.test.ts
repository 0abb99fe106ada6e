import { describe, expect, it } from 'vitest'
import { HOUR } from '../../src/lib/time'
import { DEFAULTS } from '../../src/tenancy/settings'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { addMember, call, countingD1, DIRECTORY, STORE, STORE_NUMBER } from '../harness'
import { cron } from '../inbox/pipeline'
import { told } from '../members/members'
import { as } from './consumers'
import { checkout, ofCustomer } from './events'

async function newPlace() {
  const world = await billingWorld()
  const path = `/platform/v1/projects/${world.project}`
  const api = as(world.project, world.token)
  return {
    ...world,
    change: (settings: object, token = world.token) =>
      call(path, { method: 'PATCH', token, project: world.project, json: { settings } }),
    shown: async (token = world.token) => (await call(path, { token, project: world.project })).body.settings,
    listed: async () => (await call('/platform/v1/projects', { token: world.owner.token })).body.data[0]?.settings,
    link: async (id: string) => {
      const { body } = await api.customer(id)
      return [body.external_id, body.linked_by]
    },
  }
}

describe('how customers are linked', () => {
  it('follows the settings of the project from the change on; a replay applies them to earlier events', async () => {
    stopClock()
    const { change, shown, listed, deliver, link, api, queue } = await newPlace()
    expect(await shown()).toEqual(DEFAULTS)
    const named = (value: string) => ({ metadata: { user_id: value } })
    await deliver(checkout('cus_early', null, 0, named('early')), checkout('cus_hint', 'u1'))
    const set = await change({ consumer_keys: ['account', 'user_id'], link_hints: true })
    expect([set.status, set.body.settings]).toEqual([200, { ...DEFAULTS, consumer_keys: ['account', 'user_id'] }])
    await deliver(checkout('cus_late', null, 0, named('late')))
    expect(await link('cus_late')).toEqual(['late', 'checkout'])
    expect(await link('cus_early')).toEqual([undefined, undefined])

    await change({ link_hints: false })
    expect([await shown(), await listed()]).toEqual(
      Array(2).fill({ ...DEFAULTS, consumer_keys: ['account', 'user_id'], link_hints: false }),
    )
    const [ignored] = await deliver(checkout('cus_none', 'u1'))
    const preview = await api(`/webhooks/${ignored}/replay?dry_run=true`, { method: 'POST' })
    expect([preview.body.status, preview.body.effects]).toEqual(['ignored', []])
    // What is recorded stays.
    expect(await link('cus_hint')).toEqual(['u1', 'checkout'])

    await change({ link_hints: true })
    expect((await api('/webhooks/replay', { method: 'POST', json: { filter: {} } })).status).toBe(202)
    await queue.pump()
    expect(await link('cus_early')).toEqual(['early', 'checkout'])
    expect(await link('cus_none')).toEqual(['u1', 'checkout'])
  })

  it('costs no trip', async () => {
    stopClock()
    const { send, deliver, queue, change } = await newPlace()
    await change({ consumer_keys: ['a', 'b'] })
    await deliver(ofCustomer('cus_b', null)) // The first event of a minute takes a trip more: its formats are written.
    await send(ofCustomer('cus_a', null))
    const { DB, count } = countingD1()
    await queue.pump({ DB })
    expect(count.trips).toBe(3)
  })

  it('is changed by whoever may change the project, and is in the audit log once', async () => {
    const { change, shown, project, token, owner } = await newPlace()
    for (const by of [token, owner.token, (await addMember(project, 'admin')).token]) {
      expect((await change({ link_hints: false }, by)).status).toBe(200)
    }
    expect(told(await change({ link_hints: true }, (await addMember(project, 'developer')).token))).toEqual([
      403,
      'insufficient_role',
    ])
    // Nothing is written if a part is refused.
    expect(told(await change({ link_hints: true, require_passkey: true }, token))).toEqual([
      403,
      'console_session_required',
    ])
    expect([await shown(), await shown(owner.token)]).toEqual(Array(2).fill({ ...DEFAULTS, link_hints: false }))
    const log = await call('/platform/v1/audit-log?action=project.settings_changed', { project, token })
    expect(log.body.data.map(({ details }) => details)).toEqual([{ link_hints: false, before: { link_hints: true } }])
  })

  it.each([
    [[]],
    [['a', 'b', 'c', 'd', 'e', 'f']],
    [['']],
    [['x'.repeat(41)]],
    [['a b']],
    [['a[b]']],
    [['a', 'a']],
    ['a'],
    [[1]],
    [null],
  ])('refuses the keys %j', async (consumer_keys) => {
    const { change } = await newPlace()
    expect(told(await change({ consumer_keys }))).toEqual([422, 'validation_failed'])
  })
})

it.runIf(STORE_NUMBER > 0)('the cron mends a copy that the call did not reach, in either direction', async () => {
  stopClock()
  const { project, change, shown, listed } = await newPlace()
  await change({ link_hints: false, grace_days: null })
  expect((await listed()).grace_days).toBeNull()
  const set = (db: D1Database, settings: object) =>
    db.prepare('UPDATE projects SET settings = ? WHERE id = ?').bind(JSON.stringify(settings), project).run()
  await set(DIRECTORY, { require_passkey: true })
  expect((await shown()).require_passkey).toBe(false)
  advance(HOUR)
  await cron()
  const mended = { ...DEFAULTS, require_passkey: true, link_hints: false, grace_days: null }
  expect(await shown()).toEqual(mended)
  expect(await listed()).toEqual(mended)
  await set(DIRECTORY, { ...mended, consumer_keys: ['other'] })
  await set(STORE, { ...mended, require_passkey: false })
  advance(HOUR)
  await cron()
  expect([await shown(), await listed()]).toEqual([mended, mended])
})
