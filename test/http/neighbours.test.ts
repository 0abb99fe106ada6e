import { beforeEach, describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { SECOND } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import { advance, inOneWindow, stopClock } from '../clock'
import { visit } from '../console/visit'
import {
  addMember,
  call,
  countingD1,
  DIRECTORY,
  freshAddress,
  freshKey,
  freshProject,
  KEYS,
  mint,
  PROJECTS,
  STORE,
  signedIn,
  withLimits,
} from '../harness'

/* Several clients behind one address: the failures of one must not become the failures of another. */

beforeEach(() => {
  stopClock()
})

/** Makes failures from an address until it is refused. */
async function block(headers: Record<string, string>) {
  const { project } = await freshProject()
  await inOneWindow(async () => {
    for (let i = 0; i < 22; i++) await call(KEYS, { token: (await newSecret(0)).secret, project, headers })
  })
  const { body } = await call(KEYS, { token: (await newSecret(0)).secret, project, headers })
  expect(body.code).toBe('rate_limited')
}
const fresh = () => ({ 'CF-Connecting-IP': freshAddress() })

beforeEach(withLimits)

describe('an address with too many failures', () => {
  it('keeps the sessions that were good here, in the API and in the console', async () => {
    const headers = fresh()
    const { project, owner } = await freshProject()
    const person = await signedIn()
    const other = await signedIn()
    expect((await call(PROJECTS, { token: owner.token, headers })).status).toBe(200)
    expect((await visit('/console', person.token, { headers })).status).toBe(200)
    await block(headers)
    for (const { token } of [owner, person]) {
      expect((await call(PROJECTS, { token, headers })).status).toBe(200)
      expect((await visit('/console', token, { headers })).status).toBe(200)
      // Being no member of a project says nothing against the session.
      const projectOfOthers = await call(KEYS, { token, project: 'prj_none', headers })
      expect(projectOfOthers.body.code).toBe('not_a_member')
      expect((await visit('/console/p/prj_none/platform/settings/api-keys', token, { headers })).status).toBe(404)
      expect((await call(PROJECTS, { token, headers })).status).toBe(200)
    }
    expect((await call(KEYS, { token: owner.token, project, headers })).status).toBe(200)
    // One that was never seen here has to wait.
    expect((await call(PROJECTS, { token: other.token, headers })).status).toBe(429)
    expect((await visit('/console', other.token, { headers })).status).toBe(429)
    advance(10 * SECOND)
    expect((await call(PROJECTS, { token: other.token, headers })).status).toBe(200)
  })

  it('does not keep a session that has ended', async () => {
    const headers = fresh()
    const { token } = await signedIn()
    expect((await call(PROJECTS, { token, headers })).status).toBe(200)
    await block(headers)
    expect((await call('/auth/sessions/current', { method: 'DELETE', token, headers })).status).toBe(204)
    expect((await call(PROJECTS, { token, headers })).body.code).toBe('unknown_session')
    const { DB, count } = countingD1()
    expect((await call(PROJECTS, { token, headers, bindings: { DB } })).body.code).toBe('rate_limited')
    expect(count.trips).toBe(0)
  })

  it('goes by the role that the database has now, for a session that it keeps', async () => {
    const headers = fresh()
    const { project, owner } = await freshProject()
    expect((await call(KEYS, { token: owner.token, project, headers })).status).toBe(200)
    await addMember(project, 'owner') // the last owner could not be removed
    await DIRECTORY.prepare('DELETE FROM members WHERE project_id = ? AND user_id = ?').bind(project, owner.user).run()
    await block(headers)
    const refused = await call(KEYS, { token: owner.token, project, headers })
    expect([refused.status, refused.body.code]).toEqual([403, 'not_a_member'])
  })
})

describe('a secret that was once good', () => {
  const MANY = 60
  const ENDED: [code: string, end: () => Promise<{ token: string; project: string | null; next: string }>][] = [
    [
      'key_rotated',
      async () => {
        const { project, owner, key, secret } = await freshKey()
        const path = `${KEYS}/${key.id}/rotate`
        const { body } = await call(path, { method: 'POST', token: owner.token, project })
        return { token: secret, project, next: body.secret }
      },
    ],
    [
      'key_revoked',
      async () => {
        const { project, owner, key, secret } = await freshKey()
        await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: owner.token, project })
        return { token: secret, project, next: (await mint(owner.token, project)).secret }
      },
    ],
    [
      'key_expired',
      async () => {
        const { project, owner, key, secret } = await freshKey()
        await STORE.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(key.id).run()
        return { token: secret, project, next: (await mint(owner.token, project)).secret }
      },
    ],
    [
      'session_expired',
      async () => {
        const { token, user } = await signedIn()
        await DIRECTORY.prepare('UPDATE sessions SET expires_at = 1 WHERE user_id = ?').bind(user).run()
        return { token, project: null, next: (await signedIn()).token }
      },
    ],
  ]

  it.each(ENDED)('stays a 401, and its successor works beside it: %s', async (code, end) => {
    const headers = fresh()
    const { token, project, next } = await end()
    const codes = await inOneWindow(async () => {
      const codes: unknown[] = []
      for (let i = 0; i < MANY; i++) codes.push((await call(PROJECTS, { token, project, headers })).body.code)
      return codes
    })
    expect(codes).toEqual(Array(MANY).fill(code))
    expect((await call(PROJECTS, { token: next, project, headers })).status).toBe(200)
  })

  it('stays a 401 for another project, and works for its own beside it', async () => {
    const headers = fresh()
    const { project, secret } = await freshKey()
    const other = await freshKey()
    const codes = await inOneWindow(async () => {
      const codes: unknown[] = []
      for (let i = 0; i < MANY; i++) {
        codes.push((await call(KEYS, { token: secret, project: other.project, headers })).body.code)
      }
      return codes
    })
    expect(codes).toEqual(Array(MANY).fill('wrong_project'))
    expect((await call(KEYS, { token: secret, project, headers })).status).toBe(200)
    expect((await call(KEYS, { token: other.secret, project: other.project, headers })).status).toBe(200)
  })

  it('costs at most what its own limit allows: 3,000 reads a minute', async () => {
    const [, end] = ENDED[1] as (typeof ENDED)[number]
    const { token, project } = await end()
    const keys: string[] = []
    const LIMIT_CREDENTIAL = {
      limit: async ({ key }: RateLimitOptions) => {
        keys.push(key)
        return { success: keys.length <= 3 }
      },
    } as RateLimit
    const { DB, count } = countingD1()
    const codes: unknown[] = []
    for (let i = 0; i < 5; i++) {
      codes.push((await call(PROJECTS, { token, project, bindings: { DB, LIMIT_CREDENTIAL } })).body.code)
    }
    expect(codes).toEqual([...Array(3).fill('key_revoked'), 'rate_limited', 'rate_limited'])
    expect(count.trips).toBe(3)
    expect(new Set(keys).size).toBe(1)
  })

  it('is no cover for guesses: they count as before', async () => {
    const [, end] = ENDED[0] as (typeof ENDED)[number]
    for (const made of [async () => (await newSecret(0)).secret, async () => newSessionToken()]) {
      const headers = fresh()
      const { token, project } = await end()
      const last = await inOneWindow(async () => {
        let code = ''
        for (let i = 0; i < 22; i++) {
          await call(PROJECTS, { token, project, headers })
          code = (await call(PROJECTS, { token: await made(), project, headers })).body.code
        }
        return code
      })
      expect(last).toBe('rate_limited')
    }
  })
})
