import { expect, it } from 'vitest'
import { rotateKey } from '../../src/api-keys/rotate'
import { newSecret } from '../../src/api-keys/secret'
import { touchKey } from '../../src/api-keys/uses'
import { type Db, openDb, run } from '../../src/db/client'
import { SCOPES } from '../../src/lib/access'
import { MINUTE, SECOND } from '../../src/lib/time'
import { setClock, stopClock, stopTimers } from '../clock'
import { addMember, call, countingD1, freshKey, freshProject, KV_OUT, mint, STORE, tamperedD1 } from '../harness'

const KEYS = '/platform/v1/api-keys'

it('authenticates with one query, one or two rows read and none written while last_used_at is fresh', async () => {
  const { project, secret } = await freshKey()
  await call('/platform/v1/projects', { token: secret, project }) // the first use is written
  const { DB, count } = countingD1()
  // A cursor of another list is refused after authentication and before the list's own query.
  const { body } = await call('/platform/v1/projects?cursor=AAAA', { token: secret, project, bindings: { DB } })
  expect(body.code).toBe('invalid_cursor')
  expect(count).toMatchObject({ trips: 1, statements: 1, rows_written: 0 })
  expect(count.rows_read).toBeGreaterThanOrEqual(1)
  expect(count.rows_read).toBeLessThanOrEqual(2)
})

it('refuses a malformed secret with no query at all', async () => {
  const { project, secret } = await freshKey()
  const { DB, count } = countingD1()
  const typo = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')
  for (const token of [typo, 'svc_v1_', secret.toUpperCase()]) {
    expect((await call('/platform/v1/projects', { token, project, bindings: { DB } })).status).toBe(401)
  }
  expect(count.statements).toBe(0)
})

it('writes last_used_at once under 500 concurrent requests of one key', async () => {
  const { project, key, secret } = await freshKey()
  stopTimers()
  let touches = 0
  const DB = tamperedD1(({ sql, run }) => {
    if (/update "api_keys"/i.test(sql)) touches += 1
    return run()
  })
  const answers = await Promise.all(
    Array.from({ length: 500 }, () =>
      call('/platform/v1/projects?cursor=AAAA', { token: secret, project, bindings: { DB } }),
    ),
  )
  expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['invalid_cursor']))
  expect(touches).toBe(1)
  const row = await STORE.prepare('SELECT last_used_at FROM api_keys WHERE id = ?').bind(key.id).first()
  expect(row).toEqual({ last_used_at: Date.now() })
})

it('writes last_used_at once when 50 isolates find it stale at the same moment', async () => {
  const { key } = await freshKey()
  stopTimers()
  const db = openDb<Db>(STORE)
  const now = Date.now()
  await Promise.all(Array.from({ length: 50 }, () => run(db, touchKey(db, { id: key.id, last: null }, now))))
  expect(db.meter).toMatchObject({ trips: 50, rows_written: 1 })
})

it('goes on recording uses after a minute, in an isolate that knows nothing of the others', async () => {
  const start = stopClock()
  const { project, key, secret } = await freshKey()
  const markers = new Map<string, number>()
  // KV by the clock that the test moves.
  const KV = {
    get: async (name: string) => ((markers.get(name) ?? 0) > Date.now() ? 'marked' : null),
    put: async (name: string, _: string, { expirationTtl = Number.POSITIVE_INFINITY }: KVNamespacePutOptions = {}) =>
      void markers.set(name, Date.now() + expirationTtl * SECOND),
  } as unknown as KVNamespace
  for (const at of [0, MINUTE, 5 * MINUTE]) {
    setClock(start + at)
    await call(`${KEYS}/self`, { token: secret, project, bindings: { KV } })
    const row = await STORE.prepare('SELECT last_used_at FROM api_keys WHERE id = ?').bind(key.id).first()
    expect(row).toEqual({ last_used_at: start + at })
  }
  expect(markers.size).toBe(1)
})

it('hands out no secret of a key that is revoked while it is rotated', async () => {
  const { project, owner, key, secret } = await freshKey()
  const options = { token: owner.token, project }
  let revoked = 0
  const DB = tamperedD1(async ({ statements, run }) => {
    if (statements > 1 && revoked === 0) {
      revoked += 1
      expect((await call(`${KEYS}/${key.id}`, { method: 'DELETE', ...options })).status).toBe(204)
    }
    return run()
  })
  const answer = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', ...options, bindings: { DB } })
  expect([revoked, answer.status, answer.body.code]).toEqual([1, 409, 'rotation_conflict'])
  expect(answer.text).not.toContain('svc_v1_')
  expect((await call(`${KEYS}/self`, { token: secret, project })).body.code).toBe('key_revoked')
  const audit = await call('/platform/v1/audit-log', options)
  expect(audit.body.data.map(({ action }: { action: string }) => action)).not.toContain('api_key.rotated')
})

it('leaves exactly one live secret after two rotations at once', async () => {
  for (let round = 0; round < 5; round++) {
    const { project, owner, key, secret } = await freshKey()
    const rotate = () => call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    const answers = await Promise.all([rotate(), rotate()])
    const won = answers.filter(({ status }) => status === 200)
    const lost = answers.filter(({ status }) => status !== 200)
    // One after the other both succeed, and then the first one's secret is dead.
    for (const { body } of lost) expect(body.code).toBe('rotation_conflict')
    const secrets = [secret, ...won.map(({ body }) => body.secret as string)]
    const alive = await Promise.all(secrets.map((token) => call(`${KEYS}/self`, { token, project })))
    expect(alive.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(new Set(alive.filter(({ status }) => status !== 200).map(({ body }) => body.code))).toEqual(
      new Set(['key_rotated']),
    )
  }
})

it('leaves one winner of ten rotations that read the same secret', async () => {
  const { project, owner, key } = await freshKey()
  let readers = 0
  const allHaveRead = Promise.withResolvers<void>()
  // Holds every rotation between its read and its write until all ten have read.
  const DB = tamperedD1(async ({ statements, run }) => {
    if (statements === 1) return run()
    readers += 1
    if (readers === 10) allHaveRead.resolve()
    await allHaveRead.promise
    return run()
  })
  const change = { actor: { type: 'user' as const, id: owner.user }, request_id: 'req_test', now: Date.now() }
  const users = [owner.user]
  const actor = {
    type: 'api_key' as const,
    id: key.id,
    project_id: project,
    scopes: SCOPES,
    minted_by: owner.user,
    users,
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: 10 }, async () =>
      rotateKey(openDb<Db>(DB), { project_id: project, id: key.id, actor }, await newSecret(0), change),
    ),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason.fault).toBe('rotation_conflict')
  const { results } = await STORE.prepare("SELECT * FROM audit_log WHERE project_id = ? AND action = 'api_key.rotated'")
    .bind(project)
    .all()
  expect(results).toHaveLength(1)
})

it('holds the limit of 100 live keys under 120 concurrent mints in a project with 90', async () => {
  const { project, owner } = await freshProject()
  for (let i = 0; i < 90; i++) await mint(owner.token, project)
  stopTimers()
  const answers = await Promise.all(
    Array.from({ length: 120 }, () =>
      call(KEYS, {
        method: 'POST',
        token: owner.token,
        project,
        json: { name: 'one of 120' },
      }),
    ),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10)
  for (const { status, body } of answers)
    if (status !== 201) expect([status, body.code]).toEqual([409, 'key_limit_reached'])
  const count = (sql: string) => STORE.prepare(sql).bind(project).first<{ n: number }>()
  expect(await count('SELECT count(*) AS n FROM api_keys WHERE project_id = ? AND revoked_at IS NULL')).toEqual({
    n: 100,
  })
  expect(await count("SELECT count(*) AS n FROM audit_log WHERE project_id = ? AND action = 'api_key.minted'")).toEqual(
    { n: 100 },
  )
})

it('never fails a request for last_used_at: KV and the write may fail', async () => {
  const { project, secret } = await freshKey()
  expect((await call(KEYS, { token: secret, project, bindings: { KV: KV_OUT } })).status).toBe(200)
  // Not remembered as done: the next request records it.
  const { body } = await call(KEYS, { token: secret, project })
  expect(body.data[0].last_used_at).toBeNull()
  expect((await call(KEYS, { token: secret, project })).body.data[0].last_used_at).not.toBeNull()
})

it('records a use that was refused for its scope', async () => {
  const { project, owner } = await freshProject()
  const viewer = await addMember(project, 'viewer')
  const { key, secret } = await mint(owner.token, project, { scopes: ['billing:read'] })
  expect((await call(KEYS, { token: secret, project })).status).toBe(403)
  const { body } = await call(KEYS, { token: viewer.token, project })
  expect(body.data.find(({ id }) => id === key.id)?.last_used_at).toEqual(expect.any(String))
})
