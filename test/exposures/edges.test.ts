import { beforeEach, describe, expect, it } from 'vitest'
import worker from '../../src'
import { HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { newApi } from '../devices/devices'
import {
  bindingsWith,
  call,
  DIRECTORY,
  freshAddress,
  freshKey,
  KEYS,
  mailbox,
  mint,
  ORIGIN,
  STORE,
  signedIn,
  tamperedD1,
} from '../harness'
import { keepHouse } from '../inbox/pipeline'
import { insertNotice } from '../notices/world'
import { logged, noticesIn, report } from './world'

/*
 * What a report ends and what it leaves, at the edges: of time, of room, and while something else happens. Reports are answered
 * after half a second, so those that have nothing to do with each other are sent at once.
 */

beforeEach(() => {
  stopClock()
})

/** A project with a key that can be handed on, and one beside it. */
async function world() {
  const { project, owner, secret: beside } = await freshKey()
  const { key, secret } = await mint(owner.token, project, { name: 'worker', scopes: ['billing:read'] })
  const rotate = async (json: object) =>
    (await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token, json })).body
      .secret as string
  const says = async (token: string) => (await call(`${KEYS}/self`, { project, token })).body.code ?? 200
  const settings = (on_exposure: string) =>
    call(`/platform/v1/projects/${project}`, {
      method: 'PATCH',
      project,
      token: owner.token,
      json: { settings: { on_exposure } },
    })
  return { project, owner, beside, key, secret, rotate, says, settings }
}
const inParallel = <T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> => Promise.all(all.map(work))
const prefixOf = (secret: string) => `${secret.slice(0, 11)}…${secret.slice(-4)}`

describe('a secret of a key', () => {
  it('that has just expired is left, and one that has a millisecond left is ended', async () => {
    const cases = [
      [0, false],
      [1, true],
    ] as const
    await inParallel(cases, async ([left, ended]) => {
      const { project, key, secret, beside, says } = await world()
      await STORE.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?')
        .bind(Date.now() + left, key.id)
        .run()
      await report(secret)
      const row = await STORE.prepare('SELECT revoked_at FROM api_keys WHERE id = ?').bind(key.id).first('revoked_at')
      expect([left, row, (await noticesIn(project)).length]).toEqual([left, ended ? Date.now() : null, ended ? 1 : 0])
      expect(await says(beside)).toBe(200)
    })
  })

  it('that waits or was replaced is ended until the moment at which it ends', async () => {
    const late = await world()
    const waiting = await late.rotate({ when: 'first_use' })
    advance(7 * 24 * HOUR)
    await report(waiting)
    expect([await late.says(late.secret), await logged(late.key.id)]).toEqual([200, []])
    const replaced = await world()
    const current = await replaced.rotate({ grace_s: 60 })
    advance(MINUTE)
    await report(replaced.secret)
    expect([await replaced.says(current), await logged(replaced.key.id)]).toEqual([200, []])
  })

  it('is named on the notice by its own prefix, and as what it is', async () => {
    await inParallel(['current', 'pending', 'previous'] as const, async (which) => {
      const { project, key, secret: old, rotate } = await world()
      const current = await rotate({ grace_s: 3600 })
      const waiting = await rotate({ when: 'first_use' })
      const exposed = { current, pending: waiting, previous: old }[which]
      await report(exposed)
      const details = { key_prefix: prefixOf(exposed), secret: which }
      expect(await logged(key.id)).toEqual([['api_key.revoked', 'exposures', { ...details, exposed: true }]])
      expect((await noticesIn(project)).map(({ facts, kind, object_id }) => ({ facts, kind, object_id }))).toEqual([
        {
          kind: 'key_exposed',
          object_id: key.id,
          facts: { object: 'api_key', name: 'worker', ...details, ended: true, source: null, url: null },
        },
      ])
    })
  })

  it.each([
    ['rotated', { method: 'POST', path: '/rotate' }],
    ['revoked', { method: 'DELETE', path: '' }],
  ] as const)('of a key that is %s at the same moment ends nothing, and nobody is told', async (what, how) => {
    const { project, owner, key, secret } = await world()
    let isFirst = true
    const DB = tamperedD1(async ({ sql, run }) => {
      if (isFirst && /update "api_keys"/i.test(sql)) {
        isFirst = false
        await call(`${KEYS}/${key.id}${how.path}`, { method: how.method, project, token: owner.token })
      }
      return run()
    })
    expect((await report(secret, { bindings: { DB } })).status).toBe(202)
    expect([isFirst, await logged(key.id), await noticesIn(project)]).toEqual([false, [], []])
    const revoked = await STORE.prepare('SELECT revoked_at FROM api_keys WHERE id = ?').bind(key.id).first('revoked_at')
    expect(revoked === null).toBe(what === 'rotated')
  })

  it('of a key whose only exposed secret is told of is told of no more when the key ends', async () => {
    const [revoked, expiring] = await inParallel([1, 2], async () => {
      const one = await world()
      await one.settings('notify')
      await report(one.secret)
      return one
    })
    if (!revoked || !expiring) throw new Error('there must be two')
    const closed = async () => {
      await keepHouse()
      const all = [...(await noticesIn(revoked.project)), ...(await noticesIn(expiring.project))]
      return all.map(({ closed_at }) => closed_at)
    }
    expect(await closed()).toEqual([null, null])
    const send = ({ key, project, owner }: typeof revoked, method: string, json?: object) =>
      call(`${KEYS}/${key.id}`, { method, project, token: owner.token, ...(json && { json }) })
    await send(revoked, 'DELETE')
    await send(expiring, 'PATCH', { expires_at: iso(Date.now() + MINUTE) })
    advance(MINUTE - 1)
    const first = Date.now()
    expect(await closed()).toEqual([first, null])
    advance(1)
    expect(await closed()).toEqual([first, first + 1])
  })

  it('is kept on the notice with 15 others at least, the latest first', async () => {
    const { project, secret, rotate, settings } = await world()
    await settings('notify')
    await report(secret)
    const many = Array.from({ length: 16 }, (_, n) => `svc_v1_${String(n).padStart(4, '0')}…abcd`)
    await STORE.prepare("UPDATE notices SET facts = json_set(facts, '$.earlier', ?) WHERE project_id = ?")
      .bind(many.join(' '), project)
      .run()
    const second = await rotate({ when: 'first_use' })
    await report(second)
    const [notice] = await noticesIn(project)
    const earlier = String(notice?.facts.earlier)
    expect([notice?.facts.key_prefix, notice?.facts.secret]).toEqual([prefixOf(second), 'pending'])
    expect(earlier.split(' ').slice(0, 16)).toEqual([prefixOf(secret), ...many.slice(0, 15)])
    expect(earlier.length).toBeLessThanOrEqual(272)
  })
})

it('a key is revoked, and told of as long as fewer than 200 notices are open', () =>
  inParallel([199, 200], async (open) => {
    const { project, key, secret, says } = await world()
    const other = await world()
    const fill = (of: string, n: number) =>
      STORE.prepare(
        `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?2)
       INSERT INTO notices (project_id, id, kind, object_id, facts, opened_at)
       SELECT ?1, 'ntc_' || ?1 || v, 'connection_degraded', 'con_' || v, '{}', 1 FROM n`,
      )
        .bind(of, n)
        .run()
    await fill(project, open)
    await fill(other.project, 200)
    await report(secret)
    expect([await says(secret), (await logged(key.id)).length]).toEqual(['key_revoked', 1])
    expect((await noticesIn(project)).filter(({ object_id }) => object_id === key.id)).toHaveLength(200 - open)
  }))

it('a device is revoked, and told of as long as fewer than 20 are', () =>
  inParallel([19, 20], async (n) => {
    const { api, project, consumer } = await newApi()
    const other = await newApi()
    const facts = '{"object":"device","ended":true}'
    for (let i = 0; i < n; i++) await insertNotice(project, { kind: 'key_exposed', facts })
    // Neither those of another project, nor those that are closed, nor of another kind take room.
    for (let i = 0; i < 20; i++) await insertNotice(other.project, { kind: 'key_exposed', facts })
    await insertNotice(project, { kind: 'key_exposed', facts, closed_at: 1 })
    await insertNotice(project, { facts })
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    await report(token)
    expect((await api.verify(token)).body.reason).toBe('revoked')
    expect(await logged(device.id)).toEqual([['device.revoked', 'exposures', { consumer, exposed: true }]])
    const told = (await noticesIn(project)).filter(({ object_id }) => object_id === device.id)
    expect(told.map(({ facts }) => facts)).toEqual(
      n === 20
        ? []
        : [
            {
              ...{ object: 'device', consumer, token_prefix: device.token_prefix },
              ...{ ended: true, source: null, url: null },
            },
          ],
    )
  }))

it('a device that is left gets one entry and one notice, and neither if 20 about devices are open', () =>
  inParallel([19, 20], async (n) => {
    const { api, project, owner, consumer } = await newApi()
    const json = { settings: { on_exposure: 'notify' } }
    await call(`/platform/v1/projects/${project}`, { method: 'PATCH', project, token: owner.token, json })
    const facts = '{"object":"device","ended":false}'
    for (let i = 0; i < n; i++) await insertNotice(project, { kind: 'key_exposed', facts })
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    for (let i = 0; i < 3; i++) await report(token)
    expect((await api.one('ext:u', device.id)).body.state).toBe('active')
    expect(await logged(device.id)).toEqual(n === 20 ? [] : [['device.exposed', 'exposures', { consumer }]])
    expect((await noticesIn(project)).filter(({ object_id }) => object_id === device.id)).toHaveLength(20 - n)
  }))

describe('a device', () => {
  it('that has just expired is left, and one that has a millisecond left is ended', async () => {
    const cases = [
      [0, 'active'],
      [1, 'revoked'],
    ] as const
    await inParallel(cases, async ([left, state]) => {
      const { api } = await newApi()
      const { device, token } = (await api.register('ext:u', 'k')).body
      await api.register('ext:u', 'beside')
      await STORE.prepare('UPDATE devices SET expires_at = ? WHERE id = ?')
        .bind(Date.now() + left, device.id)
        .run()
      await report(token)
      expect((await api.one('ext:u', device.id)).body.state).toBe(state)
      expect((await api.list('ext:u', '?state=active')).body.data).toHaveLength(state === 'active' ? 2 : 1)
    })
  })

  it('whose token is rotated at the same moment stays', async () => {
    const { api, project } = await newApi()
    const { device, token } = (await api.register('ext:u', 'k', { platform: 'server' })).body
    let isFirst = true
    const DB = tamperedD1(async ({ sql, run }) => {
      if (isFirst && /update "devices"/i.test(sql)) {
        isFirst = false
        await api.rotate('ext:u', device.id)
      }
      return run()
    })
    await report(token, { bindings: { DB } })
    expect([isFirst, (await api.one('ext:u', device.id)).body.state]).toEqual([false, 'active'])
    expect([await logged(device.id), await noticesIn(project)]).toEqual([[], []])
  })

  it('of which each token is exposed is named by the prefix of that', async () => {
    await inParallel(['previous', 'current', 'pending'], async (which) => {
      const { api, project } = await newApi()
      const { device, token: previous } = (await api.register('ext:u', 'k', { platform: 'server' })).body
      const current = (await api.rotate('ext:u', device.id, { grace_s: 3600 })).body.token
      const pending = (await api.rotate('ext:u', device.id, { when: 'first_use' })).body.token
      const exposed = ({ previous, current, pending } as Record<string, string>)[which] ?? ''
      await report(exposed)
      expect((await noticesIn(project)).map(({ facts }) => facts.token_prefix)).toEqual([prefixOf(exposed)])
    })
  })
})

describe('a session', () => {
  it('of a user who wants no emails is ended and noted, without one', async () => {
    const { user, token } = await signedIn()
    const other = await signedIn()
    await DIRECTORY.prepare('UPDATE users SET notices = 0 WHERE id = ?').bind(user).run()
    const { EMAIL, mails } = mailbox()
    await report(token, { bindings: { EMAIL } })
    expect([(await call('/auth/user', { token })).status, mails]).toEqual([401, []])
    expect((await call('/auth/user', { token: other.token })).status).toBe(200)
    const events = await DIRECTORY.prepare('SELECT type FROM account_events WHERE user_id = ?').bind(user).all()
    expect(events.results).toEqual([{ type: 'session_exposed' }])
  })

  it('that has just expired leaves nothing, and one that has a millisecond left does', async () => {
    const cases = [
      [0, 0],
      [1, 1],
    ] as const
    await inParallel(cases, async ([left, count]) => {
      const { user, token } = await signedIn()
      await DIRECTORY.prepare('UPDATE sessions SET expires_at = ? WHERE user_id = ?')
        .bind(Date.now() + left, user)
        .run()
      const { EMAIL, mails } = mailbox()
      await report(token, { bindings: { EMAIL } })
      const events = await DIRECTORY.prepare('SELECT type FROM account_events WHERE user_id = ?').bind(user).all()
      expect([left, mails.length, events.results.length]).toEqual([left, count, count])
    })
  })
})

it('a report has 1,000 characters at most', async () => {
  const tried = await Promise.all(['x'.repeat(1_000), 'x'.repeat(1_001)].map((one) => report(one)))
  expect(tried.map(({ status }) => status)).toEqual([202, 422])
})

it('a report is worked off even if its sender hangs up before the answer', async () => {
  const { secret, says } = await world()
  const gate = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const DB = tamperedD1(async ({ run }) => {
    asked.resolve()
    await gate.promise
    return run()
  })
  const kept: Promise<unknown>[] = []
  const ctx = {
    waitUntil: (work: Promise<unknown>) => void kept.push(work),
    passThroughOnException: () => {},
    props: {},
  }
  const request = new Request(`${ORIGIN}/exposures`, {
    method: 'POST',
    headers: { 'CF-Connecting-IP': freshAddress(), 'Content-Type': 'application/json' },
    body: JSON.stringify({ secret }),
  })
  const answer = worker.fetch(request as never, bindingsWith({ DB }), ctx as never)
  await asked.promise
  // The runtime waits for this, whoever has gone, and it is not over before the secret is ended.
  const isOver = Promise.all(kept).then(() => true)
  expect(await Promise.race([isOver, scheduler.wait(50)])).toBe(undefined)
  gate.resolve()
  await isOver
  expect(await says(secret)).toBe('key_revoked')
  await answer
})
