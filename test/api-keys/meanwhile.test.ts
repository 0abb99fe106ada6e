import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { DAY, HOUR, iso, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { addMember, call, D1_LOST, freshProject, STORE, tamperedD1 } from '../harness'
import { captureLog } from '../inbox/pipeline'
import { entriesOf, keysOf, lastingProject, shown } from './world'

/* What happens to a key between a read and a write, and what stays as it is beside it. */

let project: string
let owner: Awaited<ReturnType<typeof freshProject>>['owner']
let keys: ReturnType<typeof keysOf>
beforeAll(async () => {
  const made = await lastingProject()
  project = made.project
  owner = made.owner
  keys = keysOf(project, owner.token)
})
let now: number
beforeEach(() => {
  now = stopClock()
})

/** D1 that does something once, before the first call with such a statement. */
function first(statement: RegExp, work: () => Promise<unknown>) {
  let isFirst = true
  return tamperedD1(async ({ sql, run }) => {
    if (isFirst && statement.test(sql)) {
      isFirst = false
      await work()
    }
    return run()
  })
}
const UPDATE = /update "api_keys" set/i
const actionsOf = async (id: string) => (await entriesOf(id)).map(({ action }) => action)

/** A key with three secrets: the one that was replaced, the current one, and one that waits. */
async function rotating(fields: Record<string, unknown> = {}) {
  const { key, secret: old } = await keys.make(fields)
  const { secret: current } = (await keys.rotate(key.id, { grace_s: 3600 })).body
  const { secret: waiting } = (await keys.rotate(key.id, { when: 'first_use', grace_s: 60 })).body
  return { key, old, current, waiting } as { key: { id: string }; old: string; current: string; waiting: string }
}

describe('each secret of a key', () => {
  it('belongs to its project alone, and a call for another one makes none of them the current one', async () => {
    const { key, old, current, waiting } = await rotating()
    const { body: sibling } = await call('/platform/v1/projects', {
      method: 'POST',
      token: owner.token,
      json: { name: 'Sibling' },
    })
    for (const token of [old, current, waiting]) {
      const { status, body } = await call('/platform/v1/api-keys/self', { token, project: sibling.id })
      expect([status, body.code]).toEqual([401, 'wrong_project'])
    }
    expect(await keys.read(key.id)).toMatchObject({
      key_prefix: shown(current),
      pending: { key_prefix: shown(waiting) },
      last_used_at: null,
    })
  })

  it('stops with its project, and works again with it', async () => {
    const other = await freshProject()
    const own = keysOf(other.project, other.owner.token)
    const { key, secret: old } = await own.make()
    const current = (await own.rotate(key.id, { grace_s: 3600 })).body.secret
    const waiting = (await own.rotate(key.id, { when: 'first_use', grace_s: 3600 })).body.secret
    const path = `/platform/v1/projects/${other.project}`
    await call(`${path}?name=Test`, { method: 'DELETE', token: other.owner.token })
    for (const token of [old, current, waiting]) {
      const { status, body } = await call('/platform/v1/api-keys/self', { token, project: other.project })
      expect([status, body.code, body.detail]).toEqual([401, 'key_revoked', 'The project of this API key was deleted.'])
    }
    await call(`${path}/restore`, { method: 'POST', token: other.owner.token })
    for (const token of [old, current, waiting]) expect(await own.says(token)).toBe(200)
  })

  it('is not a failed attempt from its address after it has ended; an unknown secret is', async () => {
    const { old, current, waiting, key } = await rotating()
    await keys.rotate(key.id)
    const gone = await keys.make()
    await keys.revoke(gone.key.id)
    const late = await keys.make({ expires_at: iso(now + 1) })
    advance(1)
    const live = await keys.make()
    const fenced = await keys.make({ allowed_networks: ['192.0.2.1'] })
    const tried = [
      ...[old, current, waiting].map((token) => [token, project, 'key_rotated', 0] as const),
      [gone.secret, project, 'key_revoked', 0],
      [late.secret, project, 'key_expired', 0],
      [live.secret, 'prj_00000000000000000000000000', 'wrong_project', 0],
      [fenced.secret, project, 'network_not_allowed', 0],
      [(await newSecret(0)).secret, project, 'unknown_key', 1],
      [old.toUpperCase(), project, 'malformed_credentials', 0],
    ] as const
    for (const [token, of, code, times] of tried) {
      const counted: RateLimitOptions[] = []
      const limit = async (one: RateLimitOptions) => ({ success: counted.push(one) > 0 })
      const bindings = { LIMIT_AUTH_FAILURE: { limit } }
      const { body } = await call('/platform/v1/api-keys/self', { token, project: of, bindings })
      expect([body.code, counted.length]).toEqual([code, times])
    }
  })
})

describe('ending a secret', () => {
  it.each(['pending', 'previous'] as const)('the %s one, does not end the one that took its place', async (which) => {
    const { key, current, waiting } = await rotating()
    let fresh = ''
    const DB = first(UPDATE, async () => {
      const how = which === 'pending' ? { when: 'first_use' } : { grace_s: 3600 }
      fresh = (await keys.rotate(key.id, how)).body.secret
    })
    expect((await keys.end(key.id, which, { bindings: { DB } })).status).toBe(204)
    expect(await actionsOf(key.id)).not.toContain(`api_key.${which}_secret_ended`)
    expect([await keys.says(current), await keys.says(waiting), await keys.says(fresh)]).toEqual([
      200,
      'key_rotated',
      200,
    ])
  })

  it.each(['pending', 'previous'] as const)('the %s one, writes nothing for a key that was revoked', async (which) => {
    const { key } = await rotating()
    const DB = first(UPDATE, () => keys.revoke(key.id))
    await keys.end(key.id, which, { bindings: { DB } })
    expect((await actionsOf(key.id)).at(-1)).toBe('api_key.revoked')
    const row = await STORE.prepare('SELECT pending_hash, previous_hash FROM api_keys WHERE id = ?')
      .bind(key.id)
      .first()
    expect(row).toEqual({ pending_hash: expect.any(String), previous_hash: expect.any(String) })
  })

  it('is of a key of the project, and leaves the others as they are', async () => {
    const { key, old, waiting } = await rotating()
    const beside = await rotating()
    const other = await freshProject()
    for (const which of ['pending', 'previous'] as const) {
      expect((await keysOf(other.project, other.owner.token).end(key.id, which)).status).toBe(404)
      expect((await keys.end(key.id, which)).status).toBe(204)
    }
    expect([await keys.says(old), await keys.says(waiting)]).toEqual(['key_rotated', 'key_rotated'])
    expect([await keys.says(beside.old), await keys.says(beside.current), await keys.says(beside.waiting)]).toEqual([
      200, 200, 200,
    ])
  })

  it('does nothing, and says nothing, once the secret has ended by itself', async () => {
    const { key } = await rotating()
    const entries = await actionsOf(key.id)
    advance(7 * DAY)
    for (const which of ['pending', 'previous'] as const) expect((await keys.end(key.id, which)).status).toBe(204)
    expect(await actionsOf(key.id)).toEqual(entries)
  })
})

describe('a first use', () => {
  it('of a secret that another rotation replaces at the same moment makes neither the current one', async () => {
    const { key, current, waiting } = await rotating()
    let fresh = ''
    const DB = first(UPDATE, async () => {
      fresh = (await keys.rotate(key.id, { when: 'first_use' })).body.secret
    })
    expect(await keys.says(waiting, { bindings: { DB } })).toBe('key_rotated')
    expect(await actionsOf(key.id)).not.toContain('api_key.rotation_completed')
    expect([await keys.says(current), await keys.says(fresh)]).toEqual([200, 200])
  })

  it('of one that is ended at the same moment does not bring it back', async () => {
    const { key, current, waiting } = await rotating()
    const DB = first(UPDATE, () => keys.end(key.id, 'pending'))
    expect(await keys.says(waiting, { bindings: { DB } })).toBe('key_rotated')
    expect([await keys.says(current), await keys.says(waiting)]).toEqual([200, 'key_rotated'])
  })

  it('that the database does not write is in the log', async () => {
    const { key, waiting } = await rotating()
    const log = captureLog()
    const DB = tamperedD1(({ sql, run }) => {
      if (UPDATE.test(sql)) throw new Error('D1_ERROR: out of order')
      return run()
    })
    expect(await keys.says(waiting, { bindings: { DB } })).toBe(200)
    expect(log.of('rotation_not_completed')).toMatchObject([
      { key_id: key.id, error: expect.stringContaining('database_unavailable') },
    ])
  })

  it('hands the key to who began the rotation, and keeps of the old secret whose it was and when it was used', async () => {
    const admin = await addMember(project, 'admin')
    const { key, secret } = await keys.make()
    await keys.says(secret)
    advance(MINUTE)
    const begun = await keys.rotate(key.id, { when: 'first_use', grace_s: 3600 }, admin.token)
    expect(begun.body.key).toMatchObject({
      secret_issued_to: { type: 'user', id: owner.user },
      pending: { issued_to: { type: 'user', id: admin.user } },
    })
    expect(await keys.says(begun.body.secret)).toBe(200)
    expect(await keys.read(key.id)).toMatchObject({
      secret_issued_to: { type: 'user', id: admin.user },
      last_used_at: iso(now + MINUTE),
      previous: { key_prefix: shown(secret), last_used_at: iso(now) },
    })
    const heldBy = async (user: string) =>
      (await keys.send('GET', `?secret_issued_to=${user}&limit=100`, owner.token)).body.data
        .map(({ id }: { id: string }) => id)
        .includes(key.id)
    expect([await heldBy(admin.user), await heldBy(owner.user)]).toEqual([true, true])
    advance(HOUR)
    expect([await heldBy(admin.user), await heldBy(owner.user)]).toEqual([true, false])
  })
})

describe('a rotation', () => {
  it('now, keeps of the old secret when it was used, and counts what comes after', async () => {
    const { key, secret } = await keys.make()
    await keys.says(secret)
    advance(MINUTE)
    const { body } = await keys.rotate(key.id, { grace_s: 3600 })
    expect(body.key.previous).toEqual({
      key_prefix: shown(secret),
      valid_until: iso(now + MINUTE + HOUR),
      last_used_at: iso(now),
    })
  })

  it('whose answer was lost by the database is answered all the same, once', async () => {
    const { key, secret } = await keys.make()
    const DB = tamperedD1(async ({ sql, run }) => {
      const results = await run()
      if (/^update "api_keys" set "key_prefix"/im.test(sql)) throw new Error(D1_LOST)
      return results
    })
    const { status, body } = await keys.rotate(key.id, {}, owner.token, { bindings: { DB } })
    expect(status).toBe(200)
    expect([await keys.says(body.secret), await keys.says(secret)]).toEqual([200, 'key_rotated'])
    expect((await actionsOf(key.id)).filter((action) => action === 'api_key.rotated')).toHaveLength(1)
  })

  it('that could not be written is a 503, and changes nothing', async () => {
    const { key, secret } = await keys.make()
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/^update "api_keys" set "key_prefix"/im.test(sql)) throw new Error(D1_LOST)
      return run()
    })
    const { status, body } = await keys.rotate(key.id, {}, owner.token, { bindings: { DB } })
    expect([status, body.code]).toEqual([503, 'database_unavailable'])
    expect([await keys.says(secret), await actionsOf(key.id)]).toEqual([200, ['api_key.minted']])
  })
})

describe('a use', () => {
  it.each(['current', 'previous'])(
    'of the %s secret is not recorded on a key that was revoked meanwhile',
    async (which) => {
      const { key, old, current } = await rotating()
      const DB = first(/update "api_keys" set .*last_use/i, () => keys.revoke(key.id))
      expect(await keys.says(which === 'current' ? current : old, { bindings: { DB } })).toBe(200)
      const row = await STORE.prepare(
        "SELECT last_used_at, last_use, previous ->> '$.last_used_at' AS previous FROM api_keys WHERE id = ?",
      )
        .bind(key.id)
        .first()
      expect(row).toEqual({ last_used_at: null, last_use: null, previous: null })
    },
  )

  it('of a secret that another one has replaced meanwhile is not one of that', async () => {
    const { key, old } = await rotating()
    const DB = first(/update "api_keys" set .*last_use/i, () => keys.rotate(key.id, { grace_s: 3600 }))
    expect(await keys.says(old, { bindings: { DB } })).toBe(200)
    expect((await keys.read(key.id)).previous.last_used_at).toBe(null)
  })

  it('of the old secret is written once a minute, separately from the use of the current one', async () => {
    const { key, old, current } = await rotating()
    const markers = new Map<string, number>()
    // KV by the clock that the test moves.
    const KV = {
      get: async (name: string) => ((markers.get(name) ?? 0) > Date.now() ? 'marked' : null),
      put: async (name: string, _: string, { expirationTtl = 0 }: KVNamespacePutOptions = {}) =>
        void markers.set(name, Date.now() + expirationTtl * 1000),
    } as unknown as KVNamespace
    const use = async (token: string) => expect(await keys.says(token, { bindings: { KV } })).toBe(200)
    const used = async () => (await keys.read(key.id)).previous.last_used_at
    await use(current)
    await use(old)
    expect(await used()).toBe(iso(now))
    advance(MINUTE - 1)
    await use(old)
    expect(await used()).toBe(iso(now))
    advance(1)
    await use(old)
    expect([await used(), (await keys.read(key.id)).last_used_at]).toEqual([iso(now + MINUTE), iso(now + MINUTE)])
    expect(await STORE.prepare('SELECT last_used_at FROM api_keys WHERE id = ?').bind(key.id).first()).toEqual({
      last_used_at: now,
    })
  })
})

describe('a change', () => {
  it('of the limit by the key does not undo what a session does at the same moment', async () => {
    const { key, secret } = await keys.make({ rate_limit: { per_minute: 100 } })
    const DB = first(UPDATE, () => keys.patch(key.id, { rate_limit: { per_minute: 5 } }))
    const late = await keys.patch(key.id, { rate_limit: { per_minute: 50 } }, secret, { bindings: { DB } })
    expect([late.status, late.body.code]).toEqual([403, 'console_session_required'])
    expect((await keys.read(key.id)).rate_limit).toEqual({ per_minute: 5 })
  })

  it('by the key is made all the same if a session changes something else at the same moment, or widens it', async () => {
    const { key, secret } = await keys.make({ rate_limit: { per_minute: 100 } })
    const DB = first(UPDATE, () => keys.patch(key.id, { name: 'Renamed', rate_limit: { per_minute: 200 } }))
    const late = await keys.patch(key.id, { rate_limit: { per_minute: 50 } }, secret, { bindings: { DB } })
    expect([late.status, late.body.name, late.body.rate_limit]).toEqual([200, 'Renamed', { per_minute: 50 }])
  })

  it('of a key that is revoked meanwhile is a 404, and is not made', async () => {
    const { key } = await keys.make()
    const DB = first(UPDATE, () => keys.revoke(key.id))
    const late = await keys.patch(key.id, { name: 'Late' }, owner.token, { bindings: { DB } })
    expect([late.status, await actionsOf(key.id)]).toEqual([404, ['api_key.minted', 'api_key.revoked']])
  })
})
