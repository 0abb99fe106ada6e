import { describe, expect, it } from 'vitest'
import { codeOf, ERRORS, type FaultName } from '../../src/lib/faults'
import { SECOND } from '../../src/lib/time'
import { stopClock } from '../clock'
import {
  call,
  freshConnection,
  freshKey,
  KEYS,
  ORIGIN,
  type RequestOptions,
  revokedKey,
  rotatedKey,
  STORE,
  signStripe,
  stripeEvent,
} from '../harness'
import { nameOf, ROUTES } from '../routes/of-app'
import { ROWS } from '../routes/table'
import { PRODUCERS } from './faults'

const FAULTS = Object.keys(ERRORS) as FaultName[]
const BARE = 'Bearer realm="platform"'

/** RFC 6750 §3, as api.md has it. */
function challengeOf(fault: FaultName): string | RegExp | null {
  const { status, title } = ERRORS[fault]
  const bare = ['missing_credentials', 'invalid_code', 'invalid_passkey', 'invalid_recovery_code']
  if (bare.includes(fault) || fault.startsWith('signature_')) return BARE
  if (status === 401) return `${BARE}, error="invalid_token", error_description="${title}"`
  if (fault === 'insufficient_scope' || fault === 'insufficient_role') {
    return /^Bearer realm="platform", error="insufficient_scope", scope="[a-z_]+:(read|write)"$/
  }
  return null
}

/** Faults that a deployment has only while it does not know its public address. */
const WITHOUT_ORIGIN: FaultName[] = ['public_origin_missing', 'not_configured', 'ingest_url_not_public']

describe('every fault', () => {
  it('has a request here that meets it', () => {
    expect(Object.keys(PRODUCERS).sort()).toEqual([...FAULTS].sort())
  })

  it('in the row of a route is in the documentation of this route', () => {
    const undocumented = ROUTES.flatMap((route) => {
      const documented: readonly string[] = route.meta.operation?.faults ?? []
      const stated = Object.keys(ROWS[nameOf(route)]?.faults ?? {})
      return stated.filter((fault) => !documented.includes(fault)).map((fault) => `${nameOf(route)}: ${fault}`)
    })
    expect(undocumented).toEqual([])
  })

  it.each(FAULTS)('%s is answered as problem+json', async (fault) => {
    const meet = PRODUCERS[fault] ?? expect.unreachable('no request meets it')
    const answer = await meet()
    const { status, title } = ERRORS[fault]
    const code = codeOf(fault)
    expect([answer.status, answer.body?.code], answer.text).toEqual([status, code])
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
    const wanted = ['type', 'title', 'status', 'detail', 'code', 'request_id']
    expect(Object.keys(answer.body)).toEqual(fault === 'validation_failed' ? [...wanted, 'errors'] : wanted)
    const type = `${WITHOUT_ORIGIN.includes(fault) ? '' : ORIGIN}/errors#${code}`
    expect(answer.body).toMatchObject({ type, title, status, code })
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
    const row = text.split('<tr>').find((row) => row.includes('id="key_revoked"'))
    expect(row).toContain('>401, 409<')
    expect(row).toContain('A revoked key cannot be restored.')
    expect(text).toContain('until its data is removed, 30 days after the deletion.')
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
    const { project, owner, key, secret } = await rotatedKey()
    if (now === 'revoked') await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: owner.token, project })
    if (now === 'expired') await STORE.prepare('UPDATE api_keys SET expires_at = 1 WHERE id = ?').bind(key.id).run()
    const answer = await call(KEYS, { token: secret, project })
    expect([answer.status, answer.body.code]).toEqual([401, code])
  })

  it('as an API key where people alone may call, whatever project it names', async () => {
    const { secret, project } = await freshKey()
    const other = await revokedKey()
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

describe('a signature', () => {
  it('too old says by how much', async () => {
    const { connection } = await freshConnection()
    const at = stopClock(Date.UTC(2026, 0, 1)) / SECOND - 1000
    const body = JSON.stringify(stripeEvent())
    const headers = { 'Stripe-Signature': await signStripe(body, undefined, at) }
    const answer = await call(`/ingest/${connection.id}`, { method: 'POST', body, headers })
    expect(answer.body.code).toBe('signature_timestamp')
    expect(answer.body.detail).toContain('1000 s')
  })
})
