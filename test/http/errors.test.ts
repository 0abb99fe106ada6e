import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { codeOf, ERRORS } from '../../src/http/errors'
import type { FaultName } from '../../src/lib/fault'
import { newId } from '../../src/lib/ids'
import { newSessionToken } from '../../src/sessions/secret'
import {
  type Answer,
  addMember,
  type bound,
  call,
  deliver,
  failingD1,
  freshAddress,
  freshKey,
  freshProject,
  lossyQueue,
  mint,
  ORIGIN,
  type RequestOptions,
  STRIPE_SECRET,
  signedIn,
  signStripe,
  stripeConnection,
  stripeEvent,
} from '../harness'

const KEYS = '/platform/v1/api-keys'
const PROJECTS = '/platform/v1/projects'
const CONNECTIONS = '/platform/v1/billing/connections'

const D1_IS_AWAY = 'D1_ERROR: Network connection lost.'
const OUR_MISTAKE = 'D1_ERROR: no such column: hash_of_the_secret at offset 7: SQLITE_ERROR'

async function freshConnection() {
  const world = await freshKey()
  return { ...world, connection: await stripeConnection(world.secret, world.project) }
}

async function rotated() {
  const world = await freshKey()
  await call(`${KEYS}/${world.key.id}/rotate`, { method: 'POST', token: world.owner.token, project: world.project })
  return world
}

async function revoked() {
  const world = await freshKey()
  await call(`${KEYS}/${world.key.id}`, { method: 'DELETE', token: world.owner.token, project: world.project })
  return world
}

async function expired() {
  const world = await freshKey()
  await env.DB.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?')
    .bind(Date.now() - 1, world.key.id)
    .run()
  return world
}

/** Copies a row of the project until it has `n` of them. */
async function fill(table: 'api_keys' | 'connections', project: string, n: number) {
  const { results } = await env.DB.prepare(`SELECT * FROM ${table} WHERE project_id = ?`).bind(project).all()
  const [row] = results as Record<string, unknown>[]
  if (!row) throw new Error(`no row of ${table} to copy`)
  const columns = Object.keys(row)
  const insert = env.DB.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const copies = Array.from({ length: n - results.length }, (_, i) =>
    insert.bind(...columns.map((name) => (['id', 'hash'].includes(name) ? `${row[name]}-${i}` : row[name]))),
  )
  await env.DB.batch(copies)
}

/** A request that is refused with each fault. Every fault has one: the type says so, and the first test too. */
const PRODUCERS: Record<FaultName, () => Promise<Answer>> = {
  invalid_json: async () => {
    const { token } = await signedIn()
    const headers = { 'Content-Type': 'application/json' }
    return call(PROJECTS, { method: 'POST', token, body: '{"name":', headers })
  },
  invalid_cursor: async () => call(`${PROJECTS}?cursor=nonsense`, { token: (await signedIn()).token }),
  project_required: async () => call(KEYS, { token: (await freshKey()).secret }),
  missing_credentials: async () => call(KEYS, { project: (await freshProject()).project }),
  malformed_credentials: async () => call(KEYS, { project: (await freshProject()).project, token: 'svc_v1_short' }),
  unknown_key: async () => call(KEYS, { project: (await freshProject()).project, token: (await newSecret()).secret }),
  key_rotated: async () => {
    const { project, secret } = await rotated()
    return call(KEYS, { project, token: secret })
  },
  key_revoked: async () => {
    const { project, secret } = await revoked()
    return call(KEYS, { project, token: secret })
  },
  key_expired: async () => {
    const { project, secret } = await expired()
    return call(KEYS, { project, token: secret })
  },
  wrong_project: async () => call(KEYS, { project: (await freshProject()).project, token: (await freshKey()).secret }),
  unknown_session: async () => call(PROJECTS, { token: newSessionToken() }),
  session_expired: async () => {
    const { token, user } = await signedIn()
    await env.DB.prepare('UPDATE sessions SET expires_at = ? WHERE user_id = ?')
      .bind(Date.now() - 1, user)
      .run()
    return call(PROJECTS, { token })
  },
  invalid_code: () => call('/auth/sessions', { method: 'POST', json: { challenge: 'chl_none', code: 'ABCDEFGH' } }),
  signature_missing: async () => {
    const { connection } = await freshConnection()
    return call(`/ingest/${connection.id}`, { method: 'POST', body: '{}' })
  },
  signature_malformed: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { headers: { 'Stripe-Signature': 'nonsense' } })
  },
  signature_mismatch: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
  },
  signature_timestamp: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { at: Math.floor(Date.now() / 1000) - 600 })
  },
  insufficient_scope: async () => {
    const { project, owner } = await freshProject()
    const { secret } = await mint(owner.token, project, { scopes: ['billing:read'] })
    return call(KEYS, { project, token: secret })
  },
  insufficient_role: async () => {
    const { project } = await freshProject()
    const { token } = await addMember(project, 'viewer')
    return call(KEYS, { method: 'POST', project, token, json: { name: 'mine' } })
  },
  console_session_required: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { method: 'POST', project, token: secret, json: { name: 'mine' } })
  },
  api_key_required: async () => {
    const { project, owner } = await freshProject()
    return call(`${KEYS}/self`, { project, token: owner.token })
  },
  not_a_member: async () => call(KEYS, { project: (await freshProject()).project, token: (await signedIn()).token }),
  connection_disabled: async () => {
    const { connection, project, secret } = await freshConnection()
    const path = `${CONNECTIONS}/${connection.id}`
    await call(path, { method: 'PATCH', project, token: secret, json: { status: 'disabled' } })
    return deliver(connection.id, stripeEvent())
  },
  not_found: () => call('/platform/v1/nothing-is-here'),
  unknown_connection: () => deliver(newId('con', Date.now()), stripeEvent()),
  method_not_allowed: () => call(KEYS, { method: 'PUT' }),
  key_limit_reached: async () => {
    const { project, owner } = await freshKey()
    await fill('api_keys', project, 99)
    await mint(owner.token, project) // the hundredth
    return call(KEYS, { method: 'POST', project, token: owner.token, json: { name: 'one too many' } })
  },
  rotation_conflict: async () => {
    const { project, owner, key } = await freshKey()
    const path = `${KEYS}/${key.id}/rotate`
    // Between this rotation's read and its write, another one goes all the way.
    const batch = async (statements: D1PreparedStatement[]) => {
      const other = await call(path, { method: 'POST', project, token: owner.token })
      if (other.status !== 200) throw new Error(`the other rotation answered ${other.status}`)
      return env.DB.batch(statements)
    }
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database
    return call(path, { method: 'POST', project, token: owner.token, bindings: { DB } })
  },
  rotation_of_revoked_key: async () => {
    const { project, owner, key } = await revoked()
    return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
  },
  rotation_of_expired_key: async () => {
    const { project, owner, key } = await expired()
    return call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
  },
  connection_limit_reached: async () => {
    const { project, secret } = await freshConnection()
    await fill('connections', project, 49)
    await stripeConnection(secret, project) // the fiftieth
    const json = { vendor: 'stripe', name: 'one too many', signing_secret: 'whsec_0123456789' }
    return call(CONNECTIONS, { method: 'POST', project, token: secret, json })
  },
  secret_limit_reached: async () => {
    const { project, secret, connection } = await freshConnection()
    const add = (n: number) =>
      call(`${CONNECTIONS}/${connection.id}/secrets`, {
        method: 'POST',
        project,
        token: secret,
        json: { signing_secret: `whsec_number_${n}` },
      })
    for (const n of [2, 3, 4, 5]) expect((await add(n)).status).toBe(201)
    return add(6)
  },
  secret_exists: async () => {
    const { project, secret, connection } = await freshConnection()
    const json = { signing_secret: STRIPE_SECRET }
    return call(`${CONNECTIONS}/${connection.id}/secrets`, { method: 'POST', project, token: secret, json })
  },
  payload_gone: async () => {
    const { project, secret, connection } = await freshConnection()
    const receipt = await deliver(connection.id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
    const [id] = receipt.body.event_ids
    await env.DB.prepare("UPDATE events SET status = 'processed', due_at = NULL WHERE id = ?").bind(id).run()
    await env.DB.prepare('DELETE FROM payloads WHERE project_id = ?').bind(project).run()
    return call(`/platform/v1/billing/webhooks/${id}/replay`, { method: 'POST', project, token: secret })
  },
  payload_too_large: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, json: { name: 'x'.repeat(65_536) } })
  },
  unsupported_media_type: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, body: '{"name":"x"}', headers: { 'Content-Type': 'text/plain' } })
  },
  unsupported_encoding: async () => {
    const { connection } = await freshConnection()
    return deliver(connection.id, stripeEvent(), { headers: { 'Content-Encoding': 'gzip' } })
  },
  validation_failed: async () => {
    const { token } = await signedIn()
    return call(PROJECTS, { method: 'POST', token, json: { name: '' } })
  },
  rate_limited: async () => {
    const headers = { 'CF-Connecting-IP': freshAddress() }
    for (let i = 0; i < 30; i++) {
      const json = { email: `${newId('usr', Date.now())}@example.com` }
      const answer = await call('/auth/codes', { method: 'POST', json, headers })
      if (answer.status !== 202) return answer
    }
    throw new Error('thirty sign-in requests from one address were all answered')
  },
  internal_error: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(OUR_MISTAKE) } })
  },
  database_unavailable: async () => {
    const { project, secret } = await freshKey()
    return call(KEYS, { project, token: secret, bindings: { DB: failingD1(D1_IS_AWAY) } })
  },
}

const FAULTS = Object.keys(ERRORS) as FaultName[]
const BARE = 'Bearer realm="platform"'

/** RFC 6750 §3, as api.md has it. */
function challengeOf(fault: FaultName): string | RegExp | null {
  const { status, title } = ERRORS[fault]
  if (['missing_credentials', 'invalid_code'].includes(fault) || fault.startsWith('signature_')) return BARE
  if (status === 401) return `${BARE}, error="invalid_token", error_description="${title}"`
  if (fault === 'insufficient_scope' || fault === 'insufficient_role') {
    return /^Bearer realm="platform", error="insufficient_scope", scope="[a-z_]+:(read|write)"$/
  }
  return null
}

describe('every fault', () => {
  it('has a request here that meets it', () => {
    expect(Object.keys(PRODUCERS).sort()).toEqual([...FAULTS].sort())
  })

  it.each(FAULTS)('%s is answered as problem+json', async (fault) => {
    const answer = await PRODUCERS[fault]()
    const { status, title } = ERRORS[fault]
    const code = codeOf(fault)
    expect([answer.status, answer.body?.code], answer.text).toEqual([status, code])
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
    const wanted = ['type', 'title', 'status', 'detail', 'code', 'request_id']
    expect(Object.keys(answer.body)).toEqual(fault === 'validation_failed' ? [...wanted, 'errors'] : wanted)
    expect(answer.body).toMatchObject({ type: `${ORIGIN}/errors#${code}`, title, status, code })
    expect(answer.body.detail.length).toBeGreaterThan(10)
    expect(answer.body.request_id).toBe(answer.headers.get('X-Request-Id'))

    const challenge = challengeOf(fault)
    const sent = answer.headers.get('WWW-Authenticate')
    if (challenge instanceof RegExp) expect(sent).toMatch(challenge)
    else expect(sent).toBe(challenge)
    const retry = answer.headers.get('Retry-After')
    if (status === 429 || status === 503) expect(retry).toMatch(/^[1-9]\d*$/)
    else expect(retry).toBeNull()
    const allow = answer.headers.get('Allow')
    if (status === 405) expect(allow).toBe('HEAD, GET, POST')
    else expect(allow).toBeNull()
  })

  it('is described where its type points', async () => {
    const { status, text } = await call('/errors')
    expect(status).toBe(200)
    for (const fault of FAULTS) {
      expect(text).toContain(`id="${codeOf(fault)}"`)
      expect(text).toContain(ERRORS[fault].title)
    }
    const ids = text.match(/ id="\w+"/g) ?? []
    expect(new Set(ids).size).toBe(ids.length)
    expect(text).toContain('<td>401, 409</td><td><a id="key_revoked"')
  })

  it('has a title, and a code, of its own', () => {
    const shown = FAULTS.map((fault) => `${ERRORS[fault].status} ${codeOf(fault)}`)
    expect(new Set(shown).size).toBe(shown.length)
    for (const fault of FAULTS) expect(ERRORS[fault].title).toMatch(/^[A-Z]/)
  })
})

describe('a credential that is refused', () => {
  it.each([
    ['revoked since', 'revoked', 'key_revoked'],
    ['expired since', 'expired', 'key_expired'],
    ['live', 'live', 'key_rotated'],
  ])('as the old secret of a key that is %s: %s', async (_, now, code) => {
    const { project, owner, key, secret } = await rotated()
    if (now === 'revoked') await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: owner.token, project })
    if (now === 'expired') await env.DB.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(key.id).run()
    const answer = await call(KEYS, { token: secret, project })
    expect([answer.status, answer.body.code]).toEqual([401, code])
  })

  it('as an API key where people alone may call, whatever project it names', async () => {
    const { secret, project } = await freshKey()
    const other = await revoked()
    for (const [method, path] of [
      ['GET', '/auth/sessions'],
      ['GET', '/auth/sessions/current'],
      ['DELETE', '/auth/sessions/ses_none'],
    ] as const) {
      const ask = async (options: RequestOptions) => {
        const { status, body } = await call(path, { method, ...options })
        return [status, body.code]
      }
      expect(await ask({ token: secret })).toEqual([403, 'console_session_required'])
      expect(await ask({ token: secret, project })).toEqual([403, 'console_session_required'])
      expect(await ask({ token: secret, project: other.project })).toEqual([401, 'wrong_project'])
      expect(await ask({ token: other.secret })).toEqual([401, 'key_revoked'])
    }
  })
})

describe('a database that fails', () => {
  const AWAY = [
    D1_IS_AWAY,
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1_ERROR: Internal error in D1 DB storage caused object to be reset.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
    'internal error; reference = 1234567890',
  ]

  it.each(AWAY)('is a 503 whatever the credential, never a 401: %s', async (message) => {
    const { project, secret, owner } = await freshKey()
    const DB = failingD1(message)
    const unknown = (await newSecret()).secret
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
    const failing = failingD1(D1_IS_AWAY)
    const DB = {
      prepare: (query: string) => (asked++ === 0 ? env.DB.prepare(query) : failing.prepare(query)),
      batch: failing.batch,
    } as unknown as D1Database
    const KV = { get: async () => '1' } as unknown as KVNamespace // keeps the use's write out of the count
    const answer = await call(KEYS, { token: secret, project, bindings: { DB, KV } })
    expect([answer.status, asked]).toEqual([503, 2])
  })

  it('does not fail a request whose last_used_at cannot be written', async () => {
    const { project, secret, key, owner } = await freshKey()
    const KV = {
      get: async () => {
        throw new Error('KV GET failed: 500')
      },
    } as unknown as KVNamespace
    expect((await call(KEYS, { token: secret, project, bindings: { KV } })).status).toBe(200)
    // The next request tries again.
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
    const { body } = await call(KEYS, { token: owner.token, project })
    expect(body.data.find((row: any) => row.id === key.id).last_used_at).not.toBeNull()
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

  it('carries a request id and says nothing of its cause when a setting is missing', async () => {
    const bindings = { CODE_PEPPER: 'short' } as Partial<typeof bound>
    const answer = await call('/healthz', { bindings })
    expect([answer.status, answer.body.code]).toEqual([500, 'internal_error'])
    expect(answer.text).not.toMatch(/PEPPER|ZodError|characters/)
    expect(answer.body.request_id).toMatch(/^\S{8,}$/)
    expect(answer.headers.get('X-Request-Id')).toBe(answer.body.request_id)
  })
})

describe('a method that a path does not take', () => {
  it.each([
    ['PUT', KEYS, 'HEAD, GET, POST'],
    ['PATCH', KEYS, 'HEAD, GET, POST'],
    ['GET', `${KEYS}/key_1/rotate`, 'POST'],
    ['GET', `${KEYS}/key_1`, 'DELETE'],
    ['POST', `${KEYS}/self`, 'HEAD, GET, DELETE'],
    ['POST', '/healthz', 'HEAD, GET'],
    ['POST', '/', 'HEAD, GET'],
    ['DELETE', '/platform/v1/projects/prj_1', 'HEAD, GET, PATCH'],
    ['GET', '/auth/codes', 'POST'],
    ['GET', '/ingest/con_1', 'POST'],
    ['PROPFIND', KEYS, 'HEAD, GET, POST'],
    ['OPTIONS', KEYS, 'HEAD, GET, POST'],
  ])('%s %s is a 405 that allows %s', async (method, path, allow) => {
    const answer = await call(path, { method })
    expect([answer.status, answer.headers.get('Allow')], answer.text).toEqual([405, allow])
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
  })

  it.each(['/platform', '/platform/v1', '/platform/v1/', `${KEYS}/`, '/auth', '/ingest', '/favicon.ico', '/%00'])(
    'and a path that is not served is a 404 under every method: %s',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const answer = await call(path, { method })
        expect([answer.status, answer.body.code], method).toEqual([404, 'not_found'])
      }
    },
  )
})

describe('a signature', () => {
  it('too old says by how much', async () => {
    const { connection } = await freshConnection()
    const at = Math.floor(Date.now() / 1000) - 1000
    const body = JSON.stringify(stripeEvent())
    const headers = { 'Stripe-Signature': await signStripe(body, undefined, at) }
    const answer = await call(`/ingest/${connection.id}`, { method: 'POST', body, headers })
    expect(answer.body.code).toBe('signature_timestamp')
    expect(answer.body.detail).toMatch(/100[0-2] s/)
  })
})
