import { describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { newSessionToken } from '../../src/sessions/secret'
import {
  type bound,
  call,
  captureConsole,
  D1_LOST,
  DIRECTORY,
  failingD1,
  freshKey,
  KEYS,
  KV_OUT,
  OUR_MISTAKE,
  PROJECTS,
  tamperedD1,
} from '../harness'

describe('a database that fails', () => {
  const AWAY = [
    D1_LOST,
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
    'internal error; reference = 1234567890',
  ]

  it.each(AWAY)('is a 503 whatever the credential, never a 401: %s', async (message) => {
    const { project, secret, owner } = await freshKey()
    const DB = failingD1(message)
    const unknown = (await newSecret(0)).secret
    for (const token of [secret, owner.token, unknown, newSessionToken()]) {
      for (const path of [KEYS, PROJECTS, '/platform/v1/billing/webhooks', '/platform/v1/audit-log']) {
        const answer = await call(path, { token, project, bindings: { DB } })
        expect([answer.status, answer.body.code], path).toEqual([503, 'database_unavailable'])
        expect(answer.headers.get('WWW-Authenticate')).toBeNull()
      }
    }
    for (const [path, json] of [
      ['/auth/codes', { email: 'a@example.com' }],
      ['/auth/sessions', { challenge: 'chl_x', code: 'ABCDEFGH' }],
    ] as const) {
      expect((await call(path, { method: 'POST', json, bindings: { DB } })).status).toBe(503)
    }
    expect((await call('/healthz', { bindings: { DB } })).status).toBe(503)
    // And the credential is as good as it was.
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
  })

  it('is a 503 too when it fails between authentication and the answer', async () => {
    const { project, secret } = await freshKey()
    let asked = 0
    const DB = tamperedD1(async ({ run }) => {
      asked += 1
      if (asked === 1) return run()
      throw new Error(D1_LOST)
    })
    const KV = { get: async () => '1' } as unknown as KVNamespace // keeps last_used_at from being written
    const answer = await call(`${KEYS}/self`, { token: secret, project, bindings: { DB, KV } })
    expect([answer.status, asked]).toEqual([503, 4]) // the read that failed was made again, and the use was not counted
  })

  it('does not fail a request whose last_used_at cannot be written', async () => {
    const { project, secret, key, owner } = await freshKey()
    expect((await call(KEYS, { token: secret, project, bindings: { KV: KV_OUT } })).status).toBe(200)
    // The next request tries again.
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
    const { body } = await call(KEYS, { token: owner.token, project })
    expect(body.data.find(({ id }) => id === key.id)?.last_used_at).not.toBeNull()
  })
})

describe('an internal error', () => {
  const LEAKS = /SQLITE|D1_ERROR|no such column|hash_of|offset|\.ts|Error:|at /

  it.each([
    ['a statement of ours that is wrong', OUR_MISTAKE],
    ['a value of ours that D1 does not take', "D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'"],
  ])('says nothing of its cause: %s', async (_, message) => {
    const { project, secret, owner } = await freshKey()
    for (const token of [secret, owner.token]) {
      for (const [method, path] of [
        ['GET', KEYS],
        ['GET', '/healthz'],
        ['DELETE', `${KEYS}/key_00000000000000000000000000`],
      ] as const) {
        const answer = await call(path, { method, token, project, bindings: { DB: failingD1(message) } })
        expect([answer.status, answer.body.code]).toEqual([500, 'internal_error'])
        expect(answer.text).not.toMatch(LEAKS)
        expect(JSON.stringify([...answer.headers])).not.toMatch(LEAKS)
      }
    }
  })

  it.each([
    ['CODE_PEPPER', 'short'],
    ['CODE_PEPPER', undefined],
    ['ENCRYPTION_KEY_1', 'not base64!'],
    ['ENCRYPTION_KEY_1', btoa('short')],
    ['ENCRYPTION_KEY_1', undefined],
    ['SIGN_UP', 'maybe'],
  ])('names the setting %s when it is %s, with a request id', async (name, value) => {
    const log = captureConsole()
    const answer = await call('/healthz', { bindings: { [name]: value } as Partial<typeof bound> })
    expect([answer.status, answer.body.code]).toEqual([503, 'not_configured'])
    expect(answer.body.detail).toContain(`Set ${name} (`)
    expect(answer.text).not.toMatch(/ZodError|short|maybe|not base64!/)
    expect(log.join('\n')).toContain(`Set ${name} (`)
    expect(answer.body.request_id).toMatch(/^\S{8,}$/)
    expect(answer.headers.get('X-Request-Id')).toBe(answer.body.request_id)
  })

  it('says that migrations are to be applied, before anything needs the newest', async () => {
    captureConsole()
    expect((await call('/healthz')).status).toBe(200)
    const { count, ...first } = (await DIRECTORY.prepare(
      'SELECT *, count(*) OVER () AS count FROM d1_migrations ORDER BY id DESC LIMIT 1',
    ).first()) as Record<string, unknown>
    expect(count).toBeGreaterThan(5)
    await DIRECTORY.prepare('DELETE FROM d1_migrations WHERE id = ?').bind(first.id).run()
    const behind = await call('/healthz')
    expect([behind.status, behind.body.code]).toEqual([503, 'not_migrated'])
    await DIRECTORY.prepare('INSERT INTO d1_migrations (id, name, applied_at) VALUES (?, ?, ?)')
      .bind(first.id, first.name, first.applied_at)
      .run()
    expect((await call('/healthz')).status).toBe(200)
    // A database that has no tables at all.
    const empty = await call('/healthz', {
      bindings: { DB: failingD1('D1_ERROR: no such table: d1_migrations: SQLITE_ERROR') },
    })
    expect([empty.status, empty.body.code]).toEqual([503, 'not_migrated'])
  })
})
