import { beforeEach, describe, expect, it } from 'vitest'
import { stripe } from '../../../src/vendors/stripe'
import { call, changeAccount, newStripeAccount, newStripeKey } from '../../harness'
import type { Item } from '../../outside/account'
import { advance, rows, stopClock } from '../pipeline'
import { type EndpointWorld, endpointAt, endpointWorld, named } from './world'

beforeEach(() => {
  stopClock()
})

const add = ({ writeKey }: EndpointWorld, ...some: Item[]) =>
  changeAccount(writeKey, { objects: Object.fromEntries(some.map((one) => [one.id, one])) })
const audited = async ({ project }: EndpointWorld) =>
  (
    await rows<{ action: string; details: string }>(
      "SELECT action, details FROM audit_log WHERE project_id = ? AND action NOT LIKE '%.created' AND object_type = 'connection' ORDER BY id",
      project,
    )
  ).map(({ action, details }) => [action, JSON.parse(details ?? 'null')])

describe('a set-up', () => {
  it('makes an endpoint from nothing, whose deliveries are accepted, and changes nothing when it is repeated', async () => {
    const world = await endpointWorld()
    const { status, body } = await world.setUp()
    const [endpoint, ...others] = await world.endpoints()
    expect([status, others]).toEqual([200, []])
    const { needed, useful } = stripe.endpoints ?? { needed: [], useful: [] }
    expect(body).toEqual({
      did: 'created',
      endpoint: {
        id: endpoint?.id,
        url: world.shop.ingest_url,
        status: 'enabled',
        api_version: '2026-10-28.endive',
        events: [...needed, ...useful],
      },
      findings: [],
    })
    expect(endpoint?.url).toBe(world.shop.ingest_url)
    expect(await world.deliverFrom(endpoint as Item)).toBe(200)
    const { secrets } = await world.read()
    expect(secrets).toMatchObject([{ hint: String(endpoint?.secret).slice(-4), added_by: { id: world.key.id } }])
    expect(await world.setUp()).toMatchObject({ status: 200, body: { ...body, did: 'unchanged' } })
    expect(await world.endpoints()).toEqual([endpoint])
    expect(await world.changes()).toEqual(['POST /v1/webhook_endpoints'])
    expect((await world.read()).secrets).toHaveLength(1)
    const details = { did: 'created', endpoint: endpoint?.id, secret_id: secrets[0].id }
    expect(await audited(world)).toEqual([['connection.endpoint_set', details]])
  })

  it('lets an endpoint send all types, if that is asked for, and never fewer', async () => {
    const world = await endpointWorld()
    expect((await world.setUp({ events: 'all' })).body).toMatchObject({ did: 'created', endpoint: { events: ['*'] } })
    expect((await world.setUp()).body).toMatchObject({ did: 'unchanged', endpoint: { events: ['*'] } })
    const other = await endpointWorld()
    await other.setUp()
    expect((await other.setUp({ events: 'all' })).body).toMatchObject({ did: 'updated', endpoint: { events: ['*'] } })
  })

  it('mends what is wrong with its endpoint', async () => {
    const world = await endpointWorld()
    await world.setUp()
    const [made] = (await world.endpoints()) as [Item]
    for (const wrong of [
      { status: 'disabled' },
      { url: 'https://old.example.com/hook' },
      { enabled_events: ['invoice.paid', 'charge.refunded'] },
    ]) {
      await add(world, { ...made, ...wrong })
      const { body } = await world.setUp()
      expect(body).toMatchObject({ did: 'updated', endpoint: { id: made.id, status: 'enabled' }, findings: [] })
      const [mended, ...others] = (await world.endpoints()) as [Item]
      expect([mended.url, mended.status, others]).toEqual([world.shop.ingest_url, 'enabled', []])
      expect(await world.deliverFrom(mended)).toBe(200)
    }
    const [mended] = (await world.endpoints()) as [Item]
    // What somebody has added stays.
    expect(mended.enabled_events).toContain('charge.refunded')
    expect(mended.enabled_events).toEqual(expect.arrayContaining([...(stripe.endpoints?.needed ?? [])]))
    // The clock stands still, so the order of the entries says nothing.
    expect((await audited(world)).filter(([, { did }]) => did !== 'created')).toEqual(
      Array(3).fill(['connection.endpoint_set', { did: 'updated', endpoint: made.id }]),
    )
  })

  it('replaces an endpoint whose version is too old: the old one goes when the new one works', async () => {
    const world = await endpointWorld()
    await world.setUp()
    const [made] = (await world.endpoints()) as [Item]
    await add(world, { ...made, api_version: '2017-06-05' })
    expect((await world.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    const [now, ...others] = (await world.endpoints()) as [Item]
    expect([now.id === made.id, others]).toEqual([false, []])
    expect(await world.deliverFrom(now)).toBe(200)
    expect((await world.changes()).slice(-2)).toEqual([
      'POST /v1/webhook_endpoints',
      'DELETE /v1/webhook_endpoints/{id}',
    ])
  })

  it('leaves the endpoints of others as they are, also one with the same address', async () => {
    const world = await endpointWorld()
    const elsewhere = endpointAt('https://shop.example.com/hook')
    const foreign = endpointAt(world.shop.ingest_url)
    const ofOther = endpointAt(world.shop.ingest_url, { metadata: { platform_api_connection: 'con_other' } })
    await add(world, elsewhere, foreign, ofOther)
    const { body } = await world.setUp()
    expect([body.did, named(body)]).toEqual(['created', ['endpoint_twice']])
    expect(body.findings[0].consequence).toMatch(/^3 webhook endpoints at Stripe send to this connection/)
    const all = await world.endpoints()
    expect(all).toHaveLength(4)
    expect(all).toEqual(expect.arrayContaining([elsewhere, foreign, ofOther]))
    expect((await world.setUp()).body.did).toBe('unchanged')
  })

  it('mends an endpoint that was made by hand, once its secret has verified a delivery', async () => {
    const world = await endpointWorld()
    const byHand = endpointAt(world.shop.ingest_url, { enabled_events: ['invoice.paid'] })
    await add(world, byHand)
    const json = { signing_secret: byHand.secret }
    await world.api(`/connections/${world.shop.id}/secrets`, { method: 'POST', json })
    advance(2000)
    expect(await world.deliverFrom(byHand)).toBe(200)
    expect((await world.setUp()).body).toMatchObject({ did: 'updated', endpoint: { id: byHand.id }, findings: [] })
    expect(await world.endpoints()).toHaveLength(1)
    expect((await world.setUp()).body.did).toBe('unchanged')
    expect((await world.read()).secrets).toHaveLength(1)
  })

  it('makes another endpoint when the secret of the last one was removed', async () => {
    const world = await endpointWorld()
    await world.setUp()
    const [made] = (await world.endpoints()) as [Item]
    const [{ id }] = (await world.read()).secrets
    await world.api(`/connections/${world.shop.id}/secrets/${id}`, { method: 'DELETE' })
    expect((await world.setUp()).body).toMatchObject({ did: 'created', findings: [] })
    const [now, ...others] = (await world.endpoints()) as [Item]
    expect([now.id === made.id, others]).toEqual([false, []])
    expect(await world.deliverFrom(now)).toBe(200)
  })
})

describe('a set-up is refused', () => {
  it.each<[string, string | (() => string | Promise<string>), number, string, RegExp]>([
    ['a key of another form', 'nonsense', 422, 'api_key_invalid', /begins with rk_live_ or rk_test_/],
    [
      'a key that can do anything',
      'sk_live_51abcdefghij',
      422,
      'api_key_too_powerful',
      /only the permissions it needs/,
    ],
    ['a key of the other mode', () => newStripeKey('test'), 422, 'api_key_other_mode', /test key/],
    ['a key that Stripe does not know', () => newStripeKey(), 422, 'api_key_invalid', /does not know this key/],
    [
      'a key that may only read',
      () => newStripeAccount({ writes: false }),
      422,
      'api_key_lacks_permission',
      /Webhook Endpoints: Write/,
    ],
    [
      'a key that may not even read',
      () => newStripeAccount({ refused: ['webhook_endpoints'] }),
      422,
      'api_key_lacks_permission',
      /Webhook Endpoints: Write/,
    ],
    [
      'a failure of Stripe',
      () => newStripeAccount({ fail: { status: 500 } }),
      502,
      'vendor_failed',
      /answered with 500/,
    ],
    [
      'an answer that is no list',
      () => newStripeAccount({ fail: { status: 200, body: '{"data":{}}' } }),
      502,
      'vendor_failed',
      /unexpected response/,
    ],
  ])('for %s', async (_, key, status, code, detail) => {
    const world = await endpointWorld()
    const answer = await world.post(typeof key === 'string' ? key : await key())
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(answer.body.detail).toMatch(detail)
    expect((await world.read()).secrets).toEqual([])
    expect(await audited(world)).toEqual([])
  })

  it('for an account that has no room, and nothing changes there', async () => {
    const many = Array.from({ length: 16 }, (_, n) => endpointAt(`https://shop.example.com/${n}`))
    const world = await endpointWorld({ objects: many })
    const { status, body } = await world.setUp()
    expect([status, body.code]).toEqual([409, 'vendor_endpoint_limit'])
    expect(body.detail).toContain('The account has 16 webhook endpoints')
    expect(await world.endpoints()).toEqual(many)
    // Stripe allows some accounts more.
    await changeAccount(world.writeKey, { endpoints_most: 20 })
    expect((await world.setUp()).body.did).toBe('created')
  })

  it('for a connection that has no room for a secret, before anything is made', async () => {
    const world = await endpointWorld()
    for (const n of [1, 2, 3, 4, 5]) {
      const json = { signing_secret: `whsec_number_${n}` }
      await world.api(`/connections/${world.shop.id}/secrets`, { method: 'POST', json })
    }
    const { status, body } = await world.setUp()
    expect([status, body.code, await world.changes()]).toEqual([409, 'secret_limit_reached', []])
  })

  it.each(['https://platform.test', 'http://localhost:8787'])(
    'where Stripe cannot reach the deployment: no PUBLIC_ORIGIN, asked at %s',
    async (at) => {
      const world = await endpointWorld()
      const { project, token, writeKey } = world
      const json = { api_key: writeKey }
      const bindings = { PUBLIC_ORIGIN: '' }
      const answer = await call(`${at}/platform/v1/billing${world.path}`, {
        method: 'POST',
        project,
        token,
        json,
        bindings,
      })
      expect([answer.status, answer.body.code]).toEqual([422, 'ingest_url_not_public'])
      expect(await world.changes()).toEqual([])
    },
  )

  it('for a vendor whose endpoints the service does not make, and for a connection of another project', async () => {
    const world = await endpointWorld()
    const json = { vendor: 'adyen', name: 'Adyen', livemode: true }
    const { body: adyen } = await world.api('/connections', { method: 'POST', json })
    const at = (id: string) =>
      world.api(`/connections/${id}/endpoint`, { method: 'POST', json: { api_key: world.writeKey } })
    expect((await at(adyen.id)).body.code).toBe('vendor_endpoint_unsupported')
    expect((await at((await endpointWorld()).shop.id)).status).toBe(404)
  })

  it('with Idempotency-Key, because it can be repeated without one', async () => {
    const world = await endpointWorld()
    const { body } = await world.setUp({}, { headers: { 'Idempotency-Key': 'one' } })
    expect(body.code).toBe('idempotency_not_supported')
  })
})
