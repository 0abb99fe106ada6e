import { beforeEach, describe, expect, it } from 'vitest'
import type { Env } from '../../../src/env'
import { MINUTE } from '../../../src/lib/time'
import { call, STRIPE_SECRET, signStripe, stripeEvent } from '../../harness'
import { insertConnection } from '../../sso/rows'
import {
  advance,
  captureLog,
  cron,
  expectConsistent,
  newWorld,
  only,
  rows,
  settle,
  stopClock,
  stored,
  type World,
} from '../pipeline'

const KEY_2 = btoa('2'.repeat(32))
const CHANGED: Partial<Env> = { ENCRYPTION_KEY_1: KEY_2 }
/** The first key is gone, and a second one has taken its place. */
const LOST = { ENCRYPTION_KEY_1: undefined, ENCRYPTION_KEY_2: KEY_2 } as unknown as Partial<Env>
const WRONG: [string, Partial<Env>][] = [
  ['changed', CHANGED],
  ['lost', LOST],
]

beforeEach(async () => {
  stopClock()
  await rows('DELETE FROM connections')
  await rows('DELETE FROM progress')
  await rows('DELETE FROM state')
})

const health = async ({ api }: World, bindings: Partial<Env> = {}) => (await api('/webhooks/health', { bindings })).body
const code = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code]
const UNAVAILABLE = [503, 'encryption_key_unavailable']
const secretsOf = async (id: string) =>
  JSON.parse((await only(rows<{ secrets: string }>('SELECT secrets FROM connections WHERE id = ?', id))).secrets)

describe.each(WRONG)('an encryption key that was %s', (_, bindings) => {
  it('is not taken for a bad signature: the vendor sends again, and the delivery comes in once the key is back', async () => {
    captureLog()
    const world = await newWorld()
    const event = stripeEvent()
    const answer = await world.send(event, { bindings })
    expect(code(answer)).toEqual(UNAVAILABLE)
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0)
    expect(await stored(world.project)).toEqual([])
    advance(2 * MINUTE) // the isolate forgets what it could not read
    expect((await world.send(event)).status).toBe(200)
    await settle(world)
    expect(await stored(world.project)).toMatchObject([{ status: 'processed', deliveries: 1 }])
    await expectConsistent(world.project)
  })

  it('does not hide what the vendor got wrong', async () => {
    captureLog()
    const world = await newWorld()
    const path = `/ingest/${world.connection.id}`
    expect(code(await call(path, { method: 'POST', body: '{}', bindings }))).toEqual([401, 'signature_missing'])
    const old = await world.send(stripeEvent(), { at: Math.floor(Date.now() / 1000) - 3600, bindings })
    expect(old.status).not.toBe(200)
  })

  it('makes the project failing, with its reason, and nothing else', async () => {
    const world = await newWorld()
    await cron({ EVENTS: world.queue.EVENTS })
    expect(await health(world)).toMatchObject({ status: 'ok' })
    const { status, reasons } = await health(world, bindings)
    expect([status, reasons]).toEqual([
      'failing',
      [expect.stringMatching(/^no encryption key opens a signing secret of the connection Stripe: restore /)],
    ])
    await world.api(`/connections/${world.connection.id}`, { method: 'PATCH', json: { status: 'disabled' } })
    expect(await health(world, bindings)).toMatchObject({ status: 'ok' })
  })

  it('is found at the start, before any delivery', async () => {
    expect((await call('/healthz', { bindings })).status).toBe(200) // nothing is sealed: any key will do
    await newWorld()
    const answer = await call('/healthz', { bindings })
    expect(code(answer)).toEqual(UNAVAILABLE)
    expect(answer.body.detail).toContain('ENCRYPTION_KEY_')
    expect((await call('/healthz')).status).toBe(200)
  })
})

describe('a changed encryption key', () => {
  it('seals nothing: what it sealed would be lost when the right one is back', async () => {
    const world = await newWorld()
    const before = await secretsOf(world.connection.id)
    const json = { vendor: 'stripe', name: 'Another', livemode: true, signing_secret: 'whsec_0123456789' }
    const post = (path: string, body: object) => world.api(path, { method: 'POST', json: body, bindings: CHANGED })
    expect(code(await post('/connections', json))).toEqual(UNAVAILABLE)
    const path = `/connections/${world.connection.id}/secrets`
    expect(code(await post(path, { signing_secret: 'whsec_0123456789' }))).toEqual(UNAVAILABLE)
    expect(await secretsOf(world.connection.id)).toEqual(before)
    expect(await rows('SELECT id FROM connections')).toHaveLength(1)
  })

  it.each<[string, string, string, object]>([
    ['the key of entitlement tokens that comes with a plan', 'POST', '/billing/plans', { key: 'pro', name: 'Pro' }],
    ['another key of entitlement tokens', 'POST', '/billing/entitlement-keys/rotate', {}],
    [
      'the client secret of a new connection',
      'POST',
      '/sso/connections',
      { audience: 'team', name: 'A', issuer: 'https://a.plain.dev', client_id: 'rp', client_secret: 's3cret' },
    ],
    [
      'a new client secret',
      'PATCH',
      '/sso/connections/:id',
      { client_secret: 's3cret', auth_method: 'client_secret_basic' },
    ],
  ])('does not seal %s', async (_, method, path, json) => {
    const { project, owner } = await newWorld()
    const { id } = await insertConnection(project)
    const url = `/platform/v1${path.replace(':id', id)}`
    const ask = (bindings: Partial<Env>) => call(url, { method, project, token: owner.token, json, bindings })
    expect(code(await ask(CHANGED))).toEqual(UNAVAILABLE)
    const { status } = await ask({})
    expect(status).toBeLessThan(300)
  })

  it('is not what the cron seals under anew', async () => {
    const log = captureLog()
    const sealedUnder2 = { ENCRYPTION_KEY_2: KEY_2 }
    const first = await newWorld()
    const second = await newWorld()
    await second.api(`/connections/${second.connection.id}/secrets`, {
      method: 'POST',
      json: { signing_secret: 'whsec_under_the_second_key' },
      bindings: sealedUnder2,
    })
    const before = await secretsOf(first.connection.id)
    const changed = { ENCRYPTION_KEY_2: btoa('3'.repeat(32)), EVENTS: first.queue.EVENTS }
    await expect(cron(changed)).rejects.toThrow('encryption_key_unavailable')
    expect(log.of('upkeep_failed')).toMatchObject([{ task: 'reseal' }])
    expect(await secretsOf(first.connection.id)).toEqual(before)
    await cron({ ...sealedUnder2, EVENTS: first.queue.EVENTS })
    expect((await secretsOf(first.connection.id)).map(({ key }: { key: number }) => key)).toEqual([2])
  })
})

describe('a key that is lost for good', () => {
  it('is got over: the next key, each secret added again, the unreadable ones removed', async () => {
    captureLog()
    const world = await newWorld()
    const [unreadable] = await secretsOf(world.connection.id)
    const path = `/connections/${world.connection.id}/secrets`
    const added = await world.api(path, {
      method: 'POST',
      json: { signing_secret: STRIPE_SECRET },
      bindings: LOST,
    })
    expect(added.status).toBe(201)
    expect((await call('/healthz', { bindings: LOST })).status).toBe(200)
    expect((await world.send(stripeEvent(), { bindings: LOST })).status).toBe(200)
    // Another secret may still be the one that a delivery was signed with.
    const signedOtherwise = { secret: 'whsec_not_the_one_it_has', bindings: LOST }
    expect(code(await world.send(stripeEvent(), signedOtherwise))).toEqual(UNAVAILABLE)
    expect(await health(world, LOST)).toMatchObject({ status: 'failing' })
    await world.api(`${path}/${unreadable.id}`, { method: 'DELETE', bindings: LOST })
    advance(2 * MINUTE)
    expect(code(await world.send(stripeEvent(), signedOtherwise))).toEqual([401, 'signature_mismatch'])
    await settle(world)
    await cron({ EVENTS: world.queue.EVENTS })
    expect(await health(world, LOST)).toMatchObject({ status: 'ok' })
  })
})

describe('a signing secret of RevenueCat', () => {
  it('ends what the Authorization header alone allowed, also while no key opens it', async () => {
    captureLog()
    const world = await newWorld()
    const shown = 'Bearer the-value-of-the-header'
    const json = { vendor: 'revenuecat', name: 'RevenueCat', livemode: true, signing_secret: shown }
    const { id } = (await world.api('/connections', { method: 'POST', json })).body
    const body = JSON.stringify({ event: { id: 'e-1', type: 'RENEWAL' } })
    const deliver = async (signature: Record<string, string> = {}) => {
      const headers = { Authorization: shown, ...signature }
      return code(await call(`/ingest/${id}`, { method: 'POST', body, headers }))
    }
    const signed = { 'X-RevenueCat-Webhook-Signature': await signStripe(body, 'a-signing-secret') }
    expect(await deliver()).toEqual([200, undefined])
    const added = { signing_secret: 'signing:a-signing-secret' }
    expect((await world.api(`/connections/${id}/secrets`, { method: 'POST', json: added })).status).toBe(201)
    expect(await deliver()).toEqual([401, 'signature_missing'])
    expect(await deliver(signed)).toEqual([200, undefined])
    await rows(
      `UPDATE connections SET version = version + 1, secrets = json_set(secrets, '$[1].key', 9) WHERE id = ?`,
      id,
    )
    advance(2 * MINUTE)
    expect(await deliver()).toEqual(UNAVAILABLE)
    const [, lost] = await secretsOf(id)
    await world.api(`/connections/${id}/secrets/${lost.id}`, { method: 'DELETE' })
    advance(2 * MINUTE)
    expect(await deliver()).toEqual([200, undefined])
    await rows('DELETE FROM connections WHERE id = ?', id)
  })
})
