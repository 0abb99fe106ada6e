import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, iso, MINUTE, SECOND } from '../../src/lib/time'
import { stripeEventOf, stripeItem, stripeSubscription } from '../billing/payloads'
import { advance, stopClock } from '../clock'
import { insertMerged } from '../consumers/rows'
import { type Answer, countingD1, ORIGIN, STORE } from '../harness'
import { told } from '../members/members'
import { type TokenWorld, tokenWorld } from './tokens'

let world: TokenWorld
let now: number
beforeEach(async () => {
  now = stopClock(Math.floor(Date.now() / SECOND) * SECOND)
  world = await tokenWorld()
})

describe('a token', () => {
  it('says what the consumer is allowed, to whoever has the public keys', async () => {
    await world.grant({ consumer: 'ext:ada', plan: 'pro' })
    await world.grant({ consumer: 'ext:ada', feature: 'seats', effect: 'deny' })
    const { status, headers, body } = await world.issue()
    expect([status, headers.get('Cache-Control'), body.expires_at]).toEqual([201, 'no-store', iso(now + 5 * MINUTE)])
    const { payload, protectedHeader } = await world.verify(body.token)
    const [kid] = await world.kids()
    expect(protectedHeader).toEqual({ alg: 'ES256', kid, typ: 'entitlements+jwt' })
    expect(payload).toEqual({
      iss: `${ORIGIN}/p/${world.project}`,
      aud: world.project,
      sub: expect.stringMatching(/^csm_/),
      external_id: 'ada',
      iat: now / SECOND,
      exp: (now + 5 * MINUTE) / SECOND,
      ent: { sso: true, projects: 'unlimited', limits: { rows: 1000 } },
    })
  })

  it('is about the features that were asked about, and leaves out what is not allowed or unknown', async () => {
    await world.grant({ consumer: 'ext:ada', feature: 'sso' })
    const { body } = await world.issue({ features: ['sso', 'seats', 'nope'], ttl_s: 3600 })
    const { payload } = await world.verify(body.token)
    expect([payload.ent, payload.exp]).toEqual([{ sso: true }, now / SECOND + 3600])
  })

  it('ends before anything that it says does', async () => {
    await world.grant({ consumer: 'ext:ada', feature: 'sso', expires_at: iso(now + 100 * SECOND + 900) })
    await world.grant({ consumer: 'ext:ada', feature: 'seats', value: 3, expires_at: iso(now + DAY) })
    expect((await world.issue()).body.expires_at).toBe(iso(now + 100 * SECOND))
    expect((await world.issue({ features: ['seats'] })).body.expires_at).toBe(iso(now + 300 * SECOND))
    expect((await world.issue({ ttl_s: 60 })).body.expires_at).toBe(iso(now + 60 * SECOND))
    // A denial that begins later takes away what is allowed now.
    await world.grant({ consumer: 'ext:ada', feature: 'seats', effect: 'deny', starts_at: iso(now + 30 * SECOND) })
    expect((await world.issue({ features: ['seats'] })).body.expires_at).toBe(iso(now + 30 * SECOND))
  })

  it.each([
    ['first', [100, 200]],
    ['second', [200, 100]],
  ])('ends with whichever of two subscriptions of one plan ends first: the %s', async (_, ends) => {
    const start = now / SECOND
    const period = { current_period_start: start, current_period_end: start + 30 * 86_400 }
    const events = ends.map((end, n) => {
      const item = stripeItem({ price: { id: 'price_pro', product: 'prod_x' }, quantity: 1, ...period })
      const made = stripeSubscription({
        ...{ id: `sub_${n}`, customer: 'cus_ada', metadata: { consumer_external_id: 'ada' }, cancel_at: start + end },
        items: { object: 'list', data: [item], has_more: false },
      })
      return { ...stripeEventOf('customer.subscription.updated', made, { at: start }), livemode: true }
    })
    await world.deliver(...events)
    const { body } = await world.check(['ext:ada'], ['sso'])
    const valid_until = iso(now + 100 * SECOND)
    expect(body.data[0]?.features.sso).toMatchObject({ allowed: true, valid_until })
    expect((await world.issue({ features: ['sso'] })).body.expires_at).toBe(valid_until)
  })

  it('is valid until it ends, whatever happens meanwhile, and not longer', async () => {
    const { body: grant } = await world.grant({ consumer: 'ext:ada', feature: 'sso' })
    const { token } = (await world.issue()).body
    await world.revoke(grant.id)
    await world.consumers.block('ext:ada')
    advance(5 * MINUTE - SECOND)
    expect((await world.verify(token)).payload.ent).toEqual({ sso: true })
    advance(SECOND)
    await expect(world.verify(token)).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' })
  })

  it('is not valid for another audience, another issuer, another project, or after a change', async () => {
    const { token } = (await world.issue()).body
    const other = await tokenWorld()
    await expect(world.verify(token, { audience: other.project })).rejects.toThrow(/aud/)
    await expect(world.verify(token, { issuer: `${ORIGIN}/p/${other.project}` })).rejects.toThrow(/iss/)
    // By its key, even for a verifier that does not look at the audience.
    await expect(other.verify(token)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
    const [header, payload = '', signature] = token.split('.')
    const claims = JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(payload, { alphabet: 'base64url' })))
    const changed = new TextEncoder()
      .encode(JSON.stringify({ ...claims, ent: { sso: true } }))
      .toBase64({ alphabet: 'base64url', omitPadding: true })
    await expect(world.verify(`${header}.${changed}.${signature}`)).rejects.toMatchObject({
      code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    })
  })

  it('names an active device of the consumer', async () => {
    const register = (consumer: string) =>
      world.ask<{ device: { id: string } }>('PUT', `/consumers/${consumer}/devices/phone`, {
        json: { platform: 'ios' },
      })
    await world.consumers.put('grace')
    const [{ body: mine }, { body: theirs }] = [await register('ext:ada'), await register('ext:grace')]
    const { token } = (await world.issue({ device: mine.device.id })).body
    expect((await world.verify(token)).payload.device).toBe(mine.device.id)
    expect((await world.issue({ device: theirs.device.id })).status).toBe(404)
    await world.ask('DELETE', `/consumers/ext:ada/devices/${mine.device.id}`)
    expect(told(await world.issue({ device: mine.device.id }))).toEqual([409, 'device_revoked'])
  })

  it('is refused for a consumer that is unknown, blocked, merged or erased', async () => {
    const { body: ada } = await world.consumers.get('ext:ada')
    const [merged = ''] = await insertMerged(world.project, ada.id, 1)
    expect(told(await world.issue({}, 'ext:nobody'))).toEqual([404, 'not_found'])
    expect(told(await world.issue({}, 'nonsense'))).toEqual([404, 'not_found'])
    expect(told(await world.issue({}, merged))).toEqual([409, 'consumer_merged'])
    await world.consumers.block('ext:ada')
    expect(told(await world.issue())).toEqual([409, 'consumer_blocked'])
    await STORE.prepare("UPDATE consumers SET state = 'erased', email = NULL, name = NULL WHERE id = ?")
      .bind(ada.id)
      .run()
    expect(told(await world.issue({}, ada.id))).toEqual([409, 'consumer_erased'])
  })

  it.each([
    ['a short ttl', { ttl_s: 59 }],
    ['a long ttl', { ttl_s: 3601 }],
    ['no feature', { features: [] }],
    ['an unknown field', { audience: 'mine' }],
  ])('is refused for %s', async (_, json) => {
    expect(told(await world.issue(json))).toEqual([422, 'validation_failed'])
  })

  it('is refused while the deployment does not know its address, which every token names', async () => {
    const bindings = { PUBLIC_ORIGIN: '' }
    expect(told(await world.issue({}, 'ext:ada', { bindings }))).toEqual([503, 'public_origin_missing'])
  })
})

describe('the cost', () => {
  const cost = async (work: (DB: D1Database) => Promise<Answer<unknown>>) => {
    const { DB, count } = countingD1()
    const answer = await work(DB)
    expect(answer.status, answer.text).toBeLessThan(300)
    return { trips: count.trips, written: count.rows_written }
  }
  const issue = (DB: D1Database) => world.issue({}, 'ext:ada', { bindings: { DB } })
  const KEY = 1
  /** Looks whether the encryption key is the right one, until a signing secret has proven it. */
  const PROOF = 1

  it('of a token: it rides with the key, and writes nothing', async () => {
    await world.issue()
    expect(await cost(issue)).toEqual({ trips: KEY, written: 0 })
  })

  it('of the first token of a project whose plans are older than keys: one trip more', async () => {
    await STORE.prepare('DELETE FROM entitlement_keys WHERE project_id = ?').bind(world.project).run()
    expect((await world.jwks()).body).toEqual({ keys: [] })
    await world.check(['ext:ada'], ['sso'])
    expect(await cost(issue)).toEqual({ trips: KEY + 1 + PROOF, written: 3 })
    expect(await cost(issue)).toEqual({ trips: KEY, written: 0 })
    await world.verify((await world.issue()).body.token)
  })

  it('of the public keys: one trip; of a rotation: one trip', async () => {
    expect(await cost((DB) => world.jwks({ bindings: { DB } }))).toEqual({ trips: 1, written: 0 })
    // The key that retires and the new one, each with its indexes, the audit row and the row of the feed.
    expect(await cost((DB) => world.rotate({}, { bindings: { DB } }))).toEqual({ trips: KEY + 1 + PROOF, written: 7 })
  })
})
