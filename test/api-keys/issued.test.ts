import { describe, expect, it } from 'vitest'
import { HOUR, iso } from '../../src/lib/time'
import { BESIDE, call, countingD1, freshProject, mint, ORDINARY, STORE, tamperedD1 } from '../harness'

const KEYS = '/platform/v1/api-keys'
type AuditEntry = {
  action: string
  object: { id: string }
  actor: { id: string }
  details: unknown
  request_id: string
}
type Minted = Awaited<ReturnType<typeof mint>>

/** A project with keys by name, and what can be done with them. */
async function newWorld(...names: string[]) {
  const { project, owner } = await freshProject()
  const keys: Record<string, Minted> = {}
  for (const name of names) keys[name] = await mint(owner.token, project, { name, scopes: ORDINARY })
  const of = (name: string) => keys[name] as Minted
  /** Rotates a key with a secret, and keeps the new one. */
  const rotate = async (by: string, name: string, json?: object) => {
    const token = by === 'owner' ? owner.token : of(by).secret
    const answer = await call(`${KEYS}/${of(name).key.id}/rotate`, {
      method: 'POST',
      token,
      project,
      ...(json && { json }),
    })
    if (answer.status === 200) keys[name] = { key: answer.body.key, secret: answer.body.secret }
    return answer
  }
  const revoke = (name: string, query = '', token = owner.token) =>
    call(`${KEYS}/${of(name).key.id}${query}`, { method: 'DELETE', token, project })
  /** The names of the keys whose secret still authenticates. */
  const alive = async () => {
    const tried = await Promise.all(
      names.map(async (name) => (await call(`${KEYS}/self`, { token: of(name).secret, project })).status),
    )
    return names.filter((_, i) => tried[i] === 200)
  }
  /** The names of the keys that the list gives for a holder. */
  const heldBy = async (id: string) => {
    const { body } = await call(`${KEYS}?secret_issued_to=${id}&limit=100`, { token: owner.token, project })
    return body.data.map(({ name }) => name).sort()
  }
  const audit = async () =>
    (await call<{ data: AuditEntry[] }>('/platform/v1/audit-log?limit=100', { token: owner.token, project })).body.data
  return { project, owner, of, id: (name: string) => of(name).key.id, rotate, revoke, alive, heldBy, audit }
}

describe('whom a secret was issued to', () => {
  it('is the user who minted or rotated the key, or the API key that rotated it', async () => {
    const { owner, of, id, rotate, project, heldBy } = await newWorld('a', 'b')
    const user = { type: 'user', id: owner.user }
    expect(of('b').key.secret_issued_to).toEqual(user)
    expect((await rotate('a', 'b')).body.key.secret_issued_to).toEqual({ type: 'api_key', id: id('a') })
    expect((await rotate('b', 'b')).body.key.secret_issued_to).toEqual({ type: 'api_key', id: id('b') })
    const self = await call(`${KEYS}/self`, { token: of('b').secret, project })
    expect(self.body.key.secret_issued_to).toEqual({ type: 'api_key', id: id('b') })
    expect(await heldBy(owner.user)).toEqual(['a']) // B's secret came from A, and then from itself
    expect((await rotate('a', 'a')).status).toBe(200)
    expect(await heldBy(owner.user)).toEqual([])
    expect((await rotate('owner', 'b')).body.key.secret_issued_to).toEqual(user)
  })

  it('filters the list, page by page, with keys that got it in turn, and also for a revoked key', async () => {
    const { owner, project, id, rotate, revoke, heldBy } = await newWorld('a', 'b', 'c', 'd', 'e')
    await rotate('a', 'b')
    await rotate('b', 'c')
    await rotate('a', 'd')
    expect(await heldBy(id('a'))).toEqual(['b', 'c', 'd'])
    expect(await heldBy(id('b'))).toEqual(['c'])
    expect(await heldBy(id('c'))).toEqual([])
    expect(await heldBy(owner.user)).toEqual(['a', 'e'])
    await revoke('a')
    expect(await heldBy(id('a'))).toEqual(['b', 'c', 'd'])

    const walk = (query: string) => call(`${KEYS}?limit=2${query}`, { token: owner.token, project })
    const first = await walk(`&secret_issued_to=${id('a')}`)
    expect([first.body.data.length, first.body.has_more]).toEqual([2, true])
    const cursor = `&cursor=${first.body.next_cursor}`
    expect((await walk(`&secret_issued_to=${id('a')}${cursor}`)).body.data.map(({ name }) => name)).toEqual(['b'])
    for (const other of ['', `&secret_issued_to=${id('b')}`]) {
      expect((await walk(other + cursor)).body.code).toBe('invalid_cursor')
    }
  })

  it.each(['', 'a', 'key_', 'prj_00000000000000000000000000', 'key_0000000000000000000000000I'])(
    'is asked for by an id of a key or a user, not by %j',
    async (id) => {
      const { owner, project } = await freshProject()
      const answer = await call(`${KEYS}?secret_issued_to=${id}`, { token: owner.token, project })
      expect([answer.status, answer.body.errors?.[0]]).toEqual([
        422,
        {
          pointer: '/secret_issued_to',
          code: 'malformed',
          message: expect.stringContaining('id of an API key or a user'),
        },
      ])
    },
  )

  it('costs the list no further trip, and a bounded number of rows', async () => {
    const { owner, project, id, rotate } = await newWorld('a', ...Array.from({ length: 20 }, (_, i) => `k${i}`))
    for (let i = 0; i < 20; i++) await rotate('a', `k${i}`)
    const { DB, count } = countingD1()
    const ask = { token: owner.token, project, bindings: { DB } }
    expect((await call(`${KEYS}?secret_issued_to=${id('a')}&limit=100`, ask)).body.data).toHaveLength(20)
    expect(count.trips).toBe(2 + BESIDE)
    expect(count.rows_read).toBeLessThan(150)
  })
})

describe('revoking with issued=true', () => {
  it('revokes also every key whose current secret the revoked one was handed, and no other', async () => {
    const { id, rotate, revoke, alive, audit, owner } = await newWorld('a', 'b', 'c', 'd')
    await rotate('a', 'b')
    await rotate('a', 'c')
    await rotate('owner', 'c') // A holds C's secret no longer
    expect((await revoke('a', '?issued=true')).status).toBe(200)
    expect(await alive()).toEqual(['c', 'd'])
    const revoked = (await audit()).filter(({ action }) => action === 'api_key.revoked')
    expect(revoked.map(({ object, details, actor }) => [object.id, details, actor.id]).sort()).toEqual(
      [
        [id('a'), null, owner.user],
        [id('b'), { revoked_with: id('a') }, owner.user],
      ].sort(),
    )
    expect(new Set(revoked.map(({ request_id }) => request_id)).size).toBe(1)
  })

  it.each(['', '?issued=false'])('is asked for: without it the others stay: %j', async (query) => {
    const { rotate, revoke, alive } = await newWorld('a', 'b')
    await rotate('a', 'b')
    await revoke('a', query)
    expect(await alive()).toEqual(['b'])
  })

  it.each([
    ['a chain', ['a b', 'b c', 'c d']],
    ['keys that rotate themselves in between', ['a b', 'b b', 'b c', 'c c', 'c d', 'd d']],
    ['a circle that leaves the key out', ['a b', 'b c', 'c b', 'b d', 'd c', 'c d']],
    ['a circle through the key itself', ['a b', 'b a', 'a c', 'c d', 'd d']],
    ['the same key again and again', ['a b', 'a b', 'b b', 'b c', 'b d', 'c d']],
  ])('follows secrets from key to key: %s', async (_, rotations) => {
    const { id, rotate, revoke, alive, heldBy } = await newWorld('a', 'b', 'c', 'd', 'free')
    for (const rotation of rotations) {
      const [by = '', name = ''] = rotation.split(' ')
      expect((await rotate(by, name)).status).toBe(200)
    }
    expect((await heldBy(id('a'))).filter((name) => name !== 'a')).toEqual(['b', 'c', 'd'])
    expect((await revoke('a', '?issued=true')).status).toBe(200)
    expect(await alive()).toEqual(['free'])
  })

  it('follows secrets that became current at their first use', async () => {
    const { rotate, revoke, alive } = await newWorld('a', 'b', 'c', 'free')
    for (const [by, name] of [
      ['a', 'b'],
      ['b', 'b'],
      ['b', 'c'],
    ] as const) {
      expect((await rotate(by, name, { when: 'first_use' })).status).toBe(200)
      expect(await alive()).toContain(name)
    }
    await revoke('a', '?issued=true')
    expect(await alive()).toEqual(['free'])
  })

  it('follows a secret that was replaced and still works', async () => {
    const { rotate, revoke, alive } = await newWorld('a', 'b')
    await rotate('a', 'b')
    await rotate('owner', 'b', { grace_s: 60 })
    await revoke('a', '?issued=true')
    expect(await alive()).toEqual([])
  })

  it('finds what an already revoked key was handed, and changes nothing the second time', async () => {
    const { rotate, revoke, alive, audit } = await newWorld('a', 'b')
    await rotate('a', 'b')
    await revoke('a')
    expect(await alive()).toEqual(['b'])
    expect((await revoke('a', '?issued=true')).status).toBe(200)
    expect(await alive()).toEqual([])
    const rows = (await audit()).length
    expect((await revoke('a', '?issued=true')).status).toBe(200)
    expect(await audit()).toHaveLength(rows)
  })

  it('is of a key of the project: any other id is a 404', async () => {
    const mine = await newWorld('a')
    const theirs = await newWorld('a', 'b')
    await theirs.rotate('a', 'b')
    const answer = await call(`${KEYS}/${theirs.id('a')}?issued=true`, {
      method: 'DELETE',
      token: mine.owner.token,
      project: mine.project,
    })
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    expect(await theirs.alive()).toEqual(['a', 'b'])
  })

  it('is one trip, with all of a hundred keys', async () => {
    const { owner, project, id } = await newWorld('a', 'b')
    await STORE.prepare(
      `INSERT INTO api_keys (id, project_id, name, key_prefix, hash, scopes, created_by, created_at, secret_lineage)
       SELECT 'key_' || value, ?1, 'k', '', 'hash-' || ?1 || value, '[]', ?2, 0, json_array(?3) FROM
       (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 98) SELECT value FROM n)`,
    )
      .bind(project, owner.user, id('a'))
      .run()
    const { DB, count } = countingD1()
    const asked = { method: 'DELETE', token: owner.token, project, bindings: { DB } }
    expect((await call(`${KEYS}/${id('a')}?issued=true`, asked)).status).toBe(200)
    expect(count.trips).toBe(2) // the session's read is the other
    const { body } = await call(KEYS, { token: owner.token, project })
    expect(body.data.map(({ name }) => name)).toEqual(['b'])
  })

  it('leaves no way out to a rotation that is under way', async () => {
    const { project, of, id, revoke, alive } = await newWorld('a', 'b')
    // The rotation has read that A is live; before it writes, A is revoked with all that it was handed.
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/retired_secrets/.test(sql) && /^update/i.test(sql)) {
        expect((await revoke('a', '?issued=true')).status).toBe(200)
      }
      return run()
    })
    const asked = { method: 'POST', token: of('a').secret, project, bindings: { DB } }
    const answer = await call(`${KEYS}/${id('b')}/rotate`, asked)
    expect([answer.status, answer.body.code]).toEqual([401, 'key_revoked'])
    expect(await alive()).toEqual(['b']) // with the secret it had
  })

  it('leaves no way out to a holder whose own secret was replaced meanwhile', async () => {
    const { project, of, id, rotate, alive } = await newWorld('a', 'b')
    const { secret } = of('a')
    const DB = tamperedD1(async ({ sql, run }) => {
      if (/retired_secrets/.test(sql) && /^update/i.test(sql)) await rotate('owner', 'a')
      return run()
    })
    const answer = await call(`${KEYS}/${id('b')}/rotate`, { method: 'POST', token: secret, project, bindings: { DB } })
    expect([answer.status, answer.body.code]).toEqual([401, 'key_rotated'])
    expect(await alive()).toEqual(['a', 'b'])
  })
})

describe('an API key rotates another', () => {
  const at = (hours: number) => iso(Date.now() + hours * HOUR)
  const END = at(48)

  it.each([
    ['its own end is never', {}, {}, 200],
    ['it ends later', { expires_at: at(72) }, { expires_at: END }, 200],
    ['they end together', { expires_at: END }, { expires_at: END }, 200],
    ['it ends first', { expires_at: at(24) }, { expires_at: END }, 403],
    ['the other never ends', { expires_at: END }, {}, 403],
    ['it has a scope less', { scopes: ['api_keys:write'] }, { scopes: ['api_keys:write', 'billing:read'] }, 403],
    ['it has the same scopes', { scopes: ['api_keys:write'] }, { scopes: ['api_keys:write'] }, 200],
  ])('where %s: %o %o', async (why, by, other, status) => {
    const { project, owner } = await freshProject()
    const caller = await mint(owner.token, project, by)
    const target = await mint(owner.token, project, { scopes: ORDINARY, ...other })
    const rotate = (id: string, token: string) => call(`${KEYS}/${id}/rotate`, { method: 'POST', token, project })
    const answer = await rotate(target.key.id, caller.secret)
    expect([why, answer.status]).toEqual([why, status])
    const old = await call(`${KEYS}/self`, { token: target.secret, project })
    expect(old.status).toBe(status === 200 ? 401 : 200)
    if (status === 403) {
      expect(answer.body.code).toBe('scopes' in by ? 'insufficient_scope' : 'key_expires_first')
    }
    // Itself, and anything by a session, as before.
    expect((await rotate(caller.key.id, caller.secret)).status).toBe(200)
    expect((await rotate(target.key.id, owner.token)).status).toBe(200)
  })
})
