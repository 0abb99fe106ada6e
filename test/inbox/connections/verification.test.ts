import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MINUTE } from '../../../src/lib/time'
import { call } from '../../harness'
import { mac } from '../../vendors/harness'
import {
  advance,
  captureLog,
  expectConsistent,
  newWorld,
  rows,
  settle,
  stopClock,
  stored,
  type World,
} from '../pipeline'

beforeEach(() => {
  stopClock(Math.ceil(Date.now() / 1000) * 1000)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const SECRET = 'the-secret-of-the-sender'
const BODY = '{"id":"evt_1","type":"order.paid","created_at":"2026-05-04T03:02:01Z","live":false}'
const SIMPLE = { algorithm: 'sha256', header: 'X-Mac', encoding: 'hex', signed: '{body}' }
const TIMED = {
  ...SIMPLE,
  signed: '{time}.{body}',
  time_header: 'X-Time',
  id: 'id',
  type: 'type',
  time: 'created_at',
  livemode: 'live',
}

/** A project with a connection of the vendor `hmac`. */
async function hmacWorld(verification?: object, signing_secret: string | undefined = SECRET) {
  const world = await newWorld()
  const json = { vendor: 'hmac', name: 'Sender', livemode: true, signing_secret }
  const { body, status } = await world.api('/connections', { method: 'POST', json })
  expect(status).toBe(201)
  const at = `/connections/${body.id}`
  const put = (json: object) =>
    world.api(`${at}/verification`, { method: 'PUT', json: json as Record<string, unknown> })
  if (verification) expect((await put(verification)).status).toBe(200)
  return { world, id: body.id as string, at, put }
}

const time = () => String(Math.floor(Date.now() / 1000))
const signed = (body = BODY, secret = SECRET) => ({ 'X-Mac': mac('sha256', secret, 'hex', body) })
const timed = (body = BODY, at = time()) => ({ 'X-Mac': mac('sha256', SECRET, 'hex', `${at}.${body}`), 'X-Time': at })

function deliver({ queue }: World, id: string, headers: Record<string, string>, body = BODY) {
  return call(`/ingest/${id}`, { method: 'POST', body, headers, bindings: { EVENTS: queue.EVENTS } })
}
const code = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code]

describe('a verification', () => {
  it('is none at first, and every delivery is refused until it is set', async () => {
    const { world, id, at, put } = await hmacWorld()
    expect((await world.api(at)).body.verification).toBeNull()
    const refused = await deliver(world, id, signed())
    expect(code(refused)).toEqual([401, 'signature_mismatch'])
    expect(refused.body.detail).toContain('no verification yet')
    const set = await put(SIMPLE)
    expect(set.body.verification).toEqual({ ...SIMPLE, header: 'x-mac', unit: 's', tolerance_s: 300 })
    expect((await world.api(at)).body).toEqual(set.body)
    expect((await deliver(world, id, signed())).status).toBe(200)
    expect((await world.api(`/connections/${world.connection.id}`)).body.verification).toBeNull()
  })

  it('counts from the next delivery, also what it no longer accepts', async () => {
    const { world, id, put } = await hmacWorld(SIMPLE)
    expect((await deliver(world, id, signed())).status).toBe(200)
    expect((await put(TIMED)).status).toBe(200)
    expect(code(await deliver(world, id, signed()))).toEqual([401, 'signature_malformed'])
    expect((await deliver(world, id, timed())).status).toBe(200)
    expect((await put({ ...TIMED, tolerance_s: 10 })).status).toBe(200)
    const late = await deliver(world, id, timed(BODY, String(Number(time()) - 60)))
    expect(code(late)).toEqual([401, 'signature_timestamp'])
    expect(late.body.detail).toContain('The limit is 10 s.')
  })

  it('is in the audit log, whole', async () => {
    const { world, id } = await hmacWorld({ preset: 'slack', tolerance_s: 60 })
    const log = await call('/platform/v1/audit-log', { token: world.token, project: world.project })
    const entry = log.body.data.find(({ action }: { action: string }) => action === 'connection.verification_set')
    expect(entry).toMatchObject({
      object: { type: 'connection', id },
      details: { preset: 'slack', signed: 'v0:{time}:{body}', tolerance_s: 60 },
    })
  })

  it('is refused if it is unsafe, and the one before stays', async () => {
    const { world, at, put } = await hmacWorld(SIMPLE)
    const refused = await put({ ...SIMPLE, signed: '{header:x-id}{body}' })
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'validation_failed', errors: [{ pointer: '/signed', code: 'malformed' }] },
    })
    expect((await world.api(at)).body.verification.signed).toBe('{body}')
    expect((await put({ ...SIMPLE, algorithm: 'sha1' })).body.errors).toMatchObject([{ pointer: '/confirm' }])
  })

  it('is for the vendor hmac alone', async () => {
    const world = await newWorld()
    const path = `/connections/${world.connection.id}/verification`
    expect(code(await world.api(path, { method: 'PUT', json: SIMPLE }))).toEqual([409, 'verification_unsupported'])
    const tried = await world.api(`${path}/try`, { method: 'POST', json: { body: '', headers: {} } })
    expect(code(tried)).toEqual([409, 'verification_unsupported'])
  })

  it('of another project is not there', async () => {
    const { id } = await hmacWorld(SIMPLE)
    const world = await newWorld()
    const path = `/connections/${id}/verification`
    expect((await world.api(path, { method: 'PUT', json: SIMPLE })).status).toBe(404)
    expect((await world.api(`${path}/try`, { method: 'POST', json: { body: '', headers: {} } })).status).toBe(404)
  })

  it('takes all live secrets', async () => {
    const { world, id, at } = await hmacWorld(SIMPLE)
    const other = 'the-next-secret-of-the-sender'
    expect((await world.api(`${at}/secrets`, { method: 'POST', json: { signing_secret: other } })).status).toBe(201)
    for (const secret of [SECRET, other]) expect((await deliver(world, id, signed(BODY, secret))).status).toBe(200)
    expect(code(await deliver(world, id, signed(BODY, 'a-secret-of-nobody')))).toEqual([401, 'signature_mismatch'])
  })
})

describe('an event of hmac', () => {
  it('is recorded with its id, type, time and mode, found by them, and sets no state', async () => {
    const { world, id } = await hmacWorld(TIMED)
    const { body } = await deliver(world, id, timed())
    await settle(world)
    const event = await world.event(body.event_ids[0])
    expect(event).toMatchObject({
      vendor: 'hmac',
      vendor_event_id: 'evt_1',
      event_type: 'order.paid',
      occurred_at: '2026-05-04T03:02:01Z',
      status: 'ignored',
      decoded_summary: { livemode: false },
    })
    const found = await world.api('/webhooks/search?event_type=order.paid&vendor_event_id=evt_1')
    expect(found.body.data.map((row: { id: string }) => row.id)).toEqual([event.id])
    // The same event, signed afresh, is a repeat.
    advance(1000)
    expect((await deliver(world, id, timed())).body).toMatchObject({ duplicate: true })
    await expectConsistent(world.project)
  })

  it('is processed as it was read when it came, whatever is set later', async () => {
    const { world, id, put } = await hmacWorld(TIMED)
    const { body } = await deliver(world, id, timed())
    await put({ ...TIMED, id: 'other', type: 'other' })
    await settle(world)
    expect(await world.event(body.event_ids[0])).toMatchObject({ status: 'ignored', event_type: 'order.paid' })
    await world.replay(body.event_ids[0])
    await settle(world)
    expect(await world.event(body.event_ids[0])).toMatchObject({ status: 'ignored', event_type: 'order.paid' })
  })

  it('whose type is not there is recorded, and fails', async () => {
    const { world, id } = await hmacWorld(TIMED)
    const { body } = await deliver(world, id, timed('{"id":"evt_2"}'), '{"id":"evt_2"}')
    await settle(world)
    expect(await world.event(body.event_ids[0])).toMatchObject({
      status: 'failed',
      event_type: 'unknown',
      last_error: expect.stringContaining('the payload has no type'),
    })
  })

  it('keeps the headers that are named, and never the signature', async () => {
    const { world, id } = await hmacWorld({ preset: 'github' })
    const headers = {
      'X-Hub-Signature-256': `sha256=${mac('sha256', SECRET, 'hex', BODY)}`,
      'X-GitHub-Delivery': 'guid-1',
      'X-GitHub-Event': 'push',
      'X-Other': 'not kept',
    }
    expect((await deliver(world, id, headers)).status).toBe(200)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ vendor_event_id: 'guid-1', event_type: 'push' }])
    const kept = JSON.stringify(await rows('SELECT * FROM packed_bodies WHERE project_id = ?', world.project))
    expect(kept).toContain('guid-1')
    for (const never of ['sha256=', 'not kept']) expect(kept).not.toContain(never)
  })
})

describe('a trial', () => {
  const trial = async ({ world, at }: { world: World; at: string }, headers: object, body = BODY) =>
    (await world.api(`${at}/verification/try`, { method: 'POST', json: { body, headers } })).body

  it('says what is accepted, by which secret, and what is read', async () => {
    const it = await hmacWorld(TIMED)
    const secret = (await it.world.api(it.at)).body.secrets[0].id
    expect(await trial(it, timed())).toEqual({
      accepted: true,
      failed: null,
      reason: 'The delivery is accepted.',
      signed: `${time()}.${BODY}`,
      secret_id: secret,
      event: { id: 'evt_1', type: 'order.paid', occurred_at: '2026-05-04T03:02:01Z', livemode: false },
    })
    expect(await stored(it.world.project)).toEqual([])
    expect(await rows('SELECT * FROM minutes WHERE project_id = ?', it.world.project)).toEqual([])
    expect((await it.world.api(it.at)).body.secrets[0].last_used_at).toBeNull()
  })

  it('says which step fails', async () => {
    const it = await hmacWorld(TIMED)
    const old = String(Number(time()) - 3600)
    const cases: [object, string, string | null, string][] = [
      [{}, 'header', null, 'There is no header x-mac.'],
      [{ ...timed(), 'X-Mac': 'abc' }, 'form', null, 'not 32 bytes in hex'],
      [{ 'X-Mac': timed()['X-Mac'] }, 'form', null, 'not 10 digits'],
      [{ ...timed(), 'X-Mac': '0'.repeat(64) }, 'signature', `${time()}.${BODY}`, 'matches none of the live secrets'],
      [timed(BODY, old), 'time', `${old}.${BODY}`, '3600 s behind our clock. The limit is 300 s.'],
    ]
    for (const [headers, failed, text, reason] of cases) {
      const answer = await trial(it, headers)
      expect(answer).toMatchObject({ accepted: false, failed, signed: text, secret_id: null, event: null })
      expect(answer.reason).toContain(reason)
    }
    expect(await trial(it, timed('{}'), '{}')).toMatchObject({ accepted: true, failed: 'event', event: null })
  })

  it('shows the first 200 characters of what is signed, and nothing of a secret', async () => {
    const it = await hmacWorld(SIMPLE)
    const body = `"${'✓'.repeat(500)}`
    const answer = await trial(it, { 'X-Mac': '0'.repeat(64) }, body)
    expect(answer.signed).toBe(`"${'✓'.repeat(199)}`)
    const right = mac('sha256', SECRET, 'hex', body)
    expect(JSON.stringify(answer)).not.toContain(right)
    expect(JSON.stringify(answer)).not.toContain(SECRET)
  })

  it('says that a verification, a secret or a key is missing', async () => {
    expect(await trial(await hmacWorld(), {})).toMatchObject({ failed: 'verification', signed: null })
    const bare = await hmacWorld(SIMPLE, undefined)
    // `undefined` is the default of a parameter, so the secret is removed here.
    const { secrets } = (await bare.world.api(bare.at)).body
    await bare.world.api(`${bare.at}/secrets/${secrets[0].id}`, { method: 'DELETE' })
    expect(await trial(bare, signed())).toMatchObject({ failed: 'secret', signed: BODY })
    captureLog()
    const lost = await hmacWorld(SIMPLE)
    await rows("UPDATE connections SET secrets = json_set(secrets, '$[0].key', 9) WHERE id = ?", lost.id)
    expect(await trial(lost, signed())).toMatchObject({ code: 'encryption_key_unavailable' })
    await rows('DELETE FROM connections WHERE id = ?', lost.id)
  })

  it.each([
    ['a header with a line feed', { headers: { a: 'b\nc' } }],
    ['a header that no request can have', { headers: { a: '✓' } }],
    ['a name that is no header', { headers: { 'a b': 'c' } }],
    ['51 headers', { headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`h${n}`, ''])) }],
    ['a header of 4097 characters', { headers: { a: 'x'.repeat(4097) } }],
    ['no body', { body: undefined }],
    ['another field', { url: 'https://other.example' }],
  ])('is refused with %s', async (_, fields) => {
    const { world, at } = await hmacWorld(SIMPLE)
    const json = { body: '', headers: {}, ...fields }
    expect((await world.api(`${at}/verification/try`, { method: 'POST', json })).status).toBe(422)
  })

  it('takes time into account as it is now', async () => {
    const it = await hmacWorld(TIMED)
    const headers = timed()
    advance(10 * MINUTE)
    expect(await trial(it, headers)).toMatchObject({ failed: 'time' })
  })
})
