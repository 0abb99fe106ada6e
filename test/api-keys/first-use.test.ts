import { describe, expect, it } from 'vitest'
import { DAY, HOUR, iso, MINUTE, SECOND } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { addMember, call, countingD1, freshProject, mint, ORDINARY, STORE, tamperedD1 } from '../harness'

/** Rotations whose new secret waits for its first use, and secrets that work on after they were replaced. */

const KEYS = '/platform/v1/api-keys'
type Json = Record<string, unknown>

/** A project with a key, and what can be done with it. The clock stands still. */
async function newWorld(scopes = ORDINARY) {
  const now = stopClock()
  const { project, owner } = await freshProject()
  const { key, secret } = await mint(owner.token, project, { scopes })
  const path = `${KEYS}/${key.id}`
  const send = (method: string, what: string, token: string, json?: Json, headers: Record<string, string> = {}) =>
    call(`${path}${what}`, { method, token, project, headers, ...(json && { json }) })
  const rotate = (json: Json, token = owner.token, headers: Record<string, string> = {}) =>
    send('POST', '/rotate', token, json, headers)
  const begin = async (grace_s = 0, token = owner.token) =>
    (await rotate({ when: 'first_use', grace_s }, token)).body.secret as string
  /** What a secret is answered: 200, or the code. */
  const says = async (token: string) => {
    const { status, body } = await call(`${KEYS}/self`, { token, project })
    return status === 200 ? 200 : (body.code as string)
  }
  const all = (...secrets: string[]) => Promise.all(secrets.map(says))
  const shown = async (token = owner.token) => (await send('GET', '', token)).body
  /** What happened to the key after it was minted, in the order of the feed. */
  const actions = async () => {
    const { results } = await STORE.prepare(
      `SELECT a.action, a.actor_id, c.items ->> '$[0].begun_by' AS begun_by,
          json_remove(a.details, '$.key_prefix', '$.begun_by') AS how FROM changes c
        JOIN audit_log a ON a.project_id = c.project_id AND a.id = c.items ->> '$[0].cause'
        WHERE c.project_id = ? AND a.object_id = ? ORDER BY c.seq`,
    )
      .bind(project, key.id)
      .all<{ action: string; actor_id: string; begun_by: string | null; how: string }>()
    return results.slice(1)
  }
  return { now, project, owner, key, secret, send, rotate, begin, says, all, shown, actions }
}

describe('a rotation with first_use', () => {
  it('leaves the old secret, until a request uses the new one', async () => {
    const { now, owner, key, secret, rotate, says, all, shown, actions } = await newWorld()
    const { status, body } = await rotate({ when: 'first_use' })
    const pending = {
      key_prefix: `${body.secret.slice(0, 11)}…${body.secret.slice(-4)}`,
      created_at: iso(now),
      expires_at: iso(now + 7 * DAY),
      issued_to: { type: 'user', id: owner.user },
    }
    expect([status, body.key]).toEqual([200, { ...key, pending, last_used_at: null }])
    expect([await says(secret), await says(secret)]).toEqual([200, 200])
    expect(await shown()).toMatchObject({ key_prefix: key.key_prefix, pending, previous: null })
    expect(await all(body.secret, secret, body.secret)).toContain(200)
    expect([await says(body.secret), await says(secret)]).toEqual([200, 'key_rotated'])
    const after = { key_prefix: pending.key_prefix, pending: null, previous: null, last_used_at: iso(now) }
    expect(await shown()).toMatchObject(after)
    expect(await actions()).toEqual([
      { action: 'api_key.rotation_pending', actor_id: owner.user, begun_by: owner.user, how: '{"when":"first_use"}' },
      { action: 'api_key.rotation_completed', actor_id: key.id, begun_by: owner.user, how: '{}' },
    ])
  })

  it('lets the old secret work for the time it names, counted from the first use, and says when it was used', async () => {
    const { now, key, secret, begin, says, shown, actions } = await newWorld()
    const fresh = await begin(60)
    advance(HOUR)
    expect(await says(fresh)).toBe(200)
    const previous = { key_prefix: key.key_prefix, valid_until: iso(now + HOUR + 60 * SECOND), last_used_at: null }
    expect((await shown()).previous).toEqual(previous)
    expect((await shown()).last_used_at).toBe(iso(now + HOUR))
    advance(60 * SECOND - 1)
    expect(await says(secret)).toBe(200)
    const used = iso(now + HOUR + 60 * SECOND - 1)
    expect(await shown()).toMatchObject({ previous: { ...previous, last_used_at: used }, last_used_at: used })
    advance(1)
    expect([await says(secret), await says(fresh), (await shown()).previous]).toEqual(['key_rotated', 200, null])
    const kept = (await actions()).map(({ how }) => JSON.parse(how))
    expect(kept).toEqual([{ when: 'first_use', grace_s: 60 }, { grace_s: 60 }])
  })

  it('admits all of many first uses at once, and one of them completes it', async () => {
    const { secret, begin, all, actions } = await newWorld()
    const fresh = await begin(60)
    const many = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? fresh : secret))
    expect(new Set(await all(...many))).toEqual(new Set([200]))
    expect((await actions()).map(({ action }) => action)).toEqual([
      'api_key.rotation_pending',
      'api_key.rotation_completed',
    ])
  })

  it('ends by itself after 7 days, and the old secret stays', async () => {
    const { secret, begin, says, shown, actions } = await newWorld()
    const fresh = await begin()
    advance(7 * DAY)
    expect([await says(fresh), await says(secret), (await shown(secret)).pending]).toEqual(['key_rotated', 200, null])
    const again = await begin(0, secret)
    advance(7 * DAY - 1)
    expect([await says(again), await says(secret), await says(fresh)]).toEqual([200, 'key_rotated', 'key_rotated'])
    expect(await actions()).toHaveLength(3)
  })

  it('harms no key that rotates itself and crashes before it has stored the answer, twice', async () => {
    const { secret, rotate, begin, says, all, key } = await newWorld()
    const lost = [await begin(0, secret), await begin(0, secret)]
    expect(await says(secret)).toBe(200)
    const { body } = await rotate({ when: 'first_use' }, secret)
    expect(body.key).toMatchObject({ id: key.id, pending: { issued_to: { type: 'api_key', id: key.id } } })
    expect(await all(...lost)).toEqual(['key_rotated', 'key_rotated'])
    expect(await says(body.secret)).toBe(200)
    expect(await says(secret)).toBe('key_rotated')
  })

  it('of two at once, one succeeds, and the other is told', async () => {
    const { owner, project, key, says, secret } = await newWorld()
    let readers = 0
    const both = Promise.withResolvers<void>()
    const DB = tamperedD1(async ({ statements, sql, run }) => {
      if (statements === 1 || !/"pending_hash" =/.test(sql)) return run()
      readers += 1
      if (readers === 2) both.resolve()
      await both.promise
      return run()
    })
    const rotate = () =>
      call(`${KEYS}/${key.id}/rotate`, {
        method: 'POST',
        token: owner.token,
        project,
        json: { when: 'first_use' },
        bindings: { DB },
      })
    const answers = await Promise.all([rotate(), rotate()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('rotation_conflict')
    expect(await says(answers.find(({ status }) => status === 200)?.body.secret ?? '')).toBe(200)
    expect(await says(secret)).toBe('key_rotated')
  })

  it('is not completed by a call that takes no API keys', async () => {
    const { secret, begin, says } = await newWorld()
    const fresh = await begin()
    expect((await call('/auth/user', { token: fresh })).status).toBe(403)
    expect([await says(secret), await says(fresh), await says(secret)]).toEqual([200, 200, 'key_rotated'])
  })

  it('is over with a rotation now, which ends every other secret', async () => {
    const { secret, begin, rotate, says, all, shown } = await newWorld()
    const second = await begin(HOUR / SECOND)
    expect(await says(second)).toBe(200)
    const third = await begin()
    expect(await all(secret, second)).toEqual([200, 200])
    const { body } = await rotate({})
    expect(await all(secret, second, third)).toEqual(['key_rotated', 'key_rotated', 'key_rotated'])
    expect([await says(body.secret), await shown()]).toMatchObject([200, { pending: null, previous: null }])
  })

  it('admits a request if the database does not write, and completes with the next', async () => {
    const { project, secret, begin, says, rotate } = await newWorld()
    const fresh = await begin()
    const DB = tamperedD1(({ sql, run }) => {
      if (/update "api_keys"/i.test(sql)) throw new Error('D1_ERROR: out of order')
      return run()
    })
    expect((await call(`${KEYS}/self`, { token: fresh, project, bindings: { DB } })).status).toBe(200)
    expect(await says(secret)).toBe(200)
    expect([await says(fresh), await says(secret), (await rotate({}, fresh)).status]).toEqual([200, 'key_rotated', 200])
  })
})

it.each([
  ['revoked', 'DELETE', ''],
  ['rotated', 'POST', '/rotate'],
])('the first use of a secret of a key that is %s meanwhile completes nothing', async (what, method, path) => {
  const { owner, project, begin, send, actions } = await newWorld()
  const fresh = await begin()
  let isFirst = true
  const DB = tamperedD1(async ({ sql, run }) => {
    if (/update "api_keys"/i.test(sql) && isFirst) {
      isFirst = false
      await send(method, path, owner.token)
    }
    return run()
  })
  const { status, body } = await call(`${KEYS}/self`, { token: fresh, project, bindings: { DB } })
  expect([status, body.code]).toEqual([401, `key_${what}`])
  expect((await actions()).map(({ action }) => action)).toEqual(['api_key.rotation_pending', `api_key.${what}`])
})

describe('a rotation now', () => {
  it('keeps when the key was last used, with whichever secret', async () => {
    const { now, owner, secret, rotate, says, shown, send } = await newWorld()
    await says(secret)
    await rotate({ grace_s: 86_400 })
    expect((await shown()).last_used_at).toBe(iso(now))
    advance(MINUTE)
    await says(secret)
    const { body } = await rotate({ grace_s: 86_400 })
    expect(body.key.last_used_at).toBe(iso(now + MINUTE))
    const third = await rotate({ grace_s: 86_400 })
    advance(MINUTE)
    await says(body.secret)
    await send('DELETE', '/previous-secret', owner.token)
    expect([third.status, (await shown()).last_used_at]).toEqual([200, iso(now + 2 * MINUTE)])
  })

  it('with a grace lets the old secret work on, but not rotate', async () => {
    const { now, secret, rotate, says, shown, key, actions } = await newWorld()
    const { body } = await rotate({ grace_s: 86_400 })
    expect(body.key.previous).toEqual({
      key_prefix: key.key_prefix,
      valid_until: iso(now + DAY),
      last_used_at: null,
    })
    expect([await says(secret), await says(body.secret)]).toEqual([200, 200])
    for (const json of [{}, { when: 'first_use' }]) {
      const refused = await rotate(json, secret)
      expect([refused.status, refused.body.code]).toEqual([401, 'key_rotated'])
    }
    advance(DAY)
    const { previous } = await shown(body.secret)
    expect([await says(secret), await says(body.secret), previous]).toEqual(['key_rotated', 200, null])
    expect((await actions()).map(({ how }) => how)).toEqual(['{"grace_s":86400}'])
  })

  it('takes a body only as it is documented', async () => {
    const { rotate, says, secret } = await newWorld()
    const bad = [{ when: 'later' }, { grace_s: -1 }, { grace_s: 86_401 }, { grace_s: 1.5 }, { grace: 1 }]
    for (const json of bad) expect([json, (await rotate(json)).status]).toEqual([json, 422])
    expect(await says(secret)).toBe(200)
  })
})

describe('what ends other secrets', () => {
  it('their own calls do, once, for the key itself too', async () => {
    const { secret, begin, send, says, actions } = await newWorld()
    const second = await begin(60)
    await says(second)
    const third = await begin(60)
    for (const what of ['/pending-secret', '/previous-secret', '/pending-secret', '/previous-secret']) {
      expect((await send('DELETE', what, second)).status).toBe(204)
    }
    expect([await says(third), await says(secret), await says(second)]).toEqual(['key_rotated', 'key_rotated', 200])
    expect((await actions()).map(({ action }) => action)).toEqual([
      'api_key.rotation_pending',
      'api_key.rotation_completed',
      'api_key.rotation_pending',
      'api_key.pending_secret_ended',
      'api_key.previous_secret_ended',
    ])
  })

  it('a secret that is used while it is ended is the current one, and the call says so', async () => {
    const { owner, project, key, begin, says } = await newWorld()
    const fresh = await begin()
    let used = 0
    const DB = tamperedD1(async ({ statements, run }) => {
      if (statements > 1 && used++ === 0) expect(await says(fresh)).toBe(200)
      return run()
    })
    const options = { method: 'DELETE', token: owner.token, project, bindings: { DB } }
    const answer = await call(`${KEYS}/${key.id}/pending-secret`, options)
    expect([answer.status, answer.body.code]).toEqual([409, 'rotation_conflict'])
  })

  it.each(['revoked', 'expired'] as const)('the end of the key does: %s', async (how) => {
    const { owner, key, secret, begin, says, all, send } = await newWorld()
    const second = await begin(HOUR / SECOND)
    await says(second)
    const third = await begin(HOUR / SECOND)
    expect(await all(secret, second)).toEqual([200, 200])
    if (how === 'revoked') await send('DELETE', '', owner.token)
    else await STORE.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(key.id).run()
    const code = `key_${how}`
    expect(await all(secret, second, third)).toEqual([code, code, code])
    expect((await send('DELETE', '/pending-secret', owner.token)).status).toBe(how === 'revoked' ? 404 : 204)
  })

  it('no request that is sent after the answer of a revocation succeeds, with any of three secrets', async () => {
    const { owner, secret, begin, says, all, send } = await newWorld()
    const second = await begin(HOUR / SECOND)
    await says(second)
    const third = await begin(HOUR / SECOND)
    const before = all(...Array.from({ length: 60 }, (_, i) => (i % 2 ? secret : second)))
    expect((await send('DELETE', '', owner.token)).status).toBe(204)
    const secrets = [secret, second, third]
    const after = await all(...Array.from({ length: 900 }, (_, i) => secrets[i % 3] as string))
    await before
    expect(new Set(after)).toEqual(new Set(['key_revoked']))
  })
})

describe('who holds a secret that waits, or that works on', () => {
  it('counts from when it was handed out: keys that a key was handed go with it', async () => {
    const { owner, project, key, secret, send } = await newWorld()
    const other = await mint(owner.token, project, { name: 'other', scopes: ORDINARY })
    const options = { method: 'POST', token: secret, project, json: { when: 'first_use' } }
    expect((await call(`${KEYS}/${other.key.id}/rotate`, options)).body.key.pending.issued_to.id).toBe(key.id)
    const held = await call(`${KEYS}?secret_issued_to=${key.id}`, { token: owner.token, project })
    expect(held.body.data.map(({ id }: { id: string }) => id)).toEqual([other.key.id])
    expect((await send('DELETE', '?issued=true', owner.token)).status).toBe(200)
    expect((await call(`${KEYS}/self`, { token: other.secret, project })).body.code).toBe('key_revoked')
  })

  it('no longer counts when the secret has ended', async () => {
    const { owner, project, key, secret } = await newWorld()
    const other = await mint(owner.token, project, { name: 'other', scopes: ORDINARY })
    const third = await mint(owner.token, project, { name: 'third', scopes: ORDINARY })
    const options = { method: 'POST', token: secret, project, json: { when: 'first_use' } }
    await call(`${KEYS}/${other.key.id}/rotate`, options)
    advance(7 * DAY)
    const revoked = { method: 'DELETE', token: third.secret, project }
    expect((await call(`${KEYS}/${key.id}?issued=true`, revoked)).status).toBe(200)
    expect((await call(`${KEYS}/self`, { token: other.secret, project })).status).toBe(200)
  })

  it('administrative scopes of each secret depend on who was handed it', async () => {
    const { owner, project, key, secret } = await newWorld(['members:write', 'members:read'])
    const admin = await addMember(project, 'admin')
    const begun = await call(`${KEYS}/${key.id}/rotate`, {
      method: 'POST',
      token: admin.token,
      project,
      json: { when: 'first_use', grace_s: 3600 },
    })
    expect(begun.status, begun.text).toBe(200)
    const demoted = await call(`/platform/v1/members/${admin.user}`, {
      method: 'PATCH',
      token: owner.token,
      project,
      json: { role: 'viewer' },
    })
    expect(demoted.status, demoted.text).toBe(200)
    const invites = async (token: string) =>
      (await call('/platform/v1/members/usr_none', { method: 'DELETE', token, project })).body.code
    expect([await invites(begun.body.secret), await invites(secret)]).toEqual(['insufficient_scope', 'not_found'])
  })
})

describe('what authentication costs', () => {
  it('with the current secret: one trip, two rows, while another waits and a third works on', async () => {
    const { project, secret, begin, says } = await newWorld()
    const second = await begin(HOUR / SECOND)
    await says(second)
    const third = await begin(HOUR / SECOND)
    await Promise.all([says(second), says(secret)]) // their uses are written
    const cost = async (token: string) => {
      const { DB, count } = countingD1()
      await call('/platform/v1/projects?cursor=AAAA', { token, project, bindings: { DB } })
      return count
    }
    const current = await cost(second)
    expect(current).toMatchObject({ trips: 1, statements: 1, rows_written: 0 })
    expect(current.rows_read).toBeLessThanOrEqual(2)
    const previous = await cost(secret)
    expect(previous).toMatchObject({ trips: 2, statements: 2, rows_written: 0 })
    expect(previous.rows_read).toBeLessThanOrEqual(4)
    // The first use: the two reads, and the one write that a first use makes.
    const first = await cost(third)
    expect(first.trips).toBe(3)
    expect(await cost(third)).toMatchObject({ trips: 1, statements: 1, rows_written: 0 })
    // One that nobody has.
    expect((await cost(secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0'))).trips).toBe(0)
  })
})

describe('a repeated rotation with an Idempotency-Key', () => {
  const HEADERS = { 'Idempotency-Key': 'one' }
  const FIRST_USE = { when: 'first_use', grace_s: 60 }

  it('returns another secret in place of the one that was lost, with the same grace', async () => {
    const { now, owner, secret, rotate, says, all, shown } = await newWorld()
    const lost = await rotate(FIRST_USE, owner.token, HEADERS)
    advance(10 * 60 * SECOND - 1)
    const again = await rotate(FIRST_USE, owner.token, HEADERS)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
    expect(await all(lost.body.secret, secret)).toEqual(['key_rotated', 200])
    expect([await says(again.body.secret), await says(secret)]).toEqual([200, 200])
    expect((await shown()).previous.valid_until).toBe(iso(now + 11 * 60 * SECOND - 1))
    const third = await rotate(FIRST_USE, owner.token, HEADERS)
    expect([third.status, third.body.code]).toEqual([409, 'secret_not_replayable'])
  })

  it('is refused 10 minutes later, and to anybody else it is another rotation', async () => {
    const { owner, project, rotate } = await newWorld()
    await rotate(FIRST_USE, owner.token, HEADERS)
    const admin = await addMember(project, 'admin')
    const theirs = await rotate(FIRST_USE, admin.token, HEADERS)
    expect([theirs.status, theirs.headers.get('Idempotency-Replayed')]).toEqual([200, null])
    expect((await rotate(FIRST_USE, owner.token, HEADERS)).body.code).toBe('secret_not_replayable')
    advance(10 * 60 * SECOND)
    expect((await rotate(FIRST_USE, admin.token, HEADERS)).body.code).toBe('secret_not_replayable')
  })
})
