import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MINUTE } from '../../../src/lib/time'
import {
  changeAccount,
  newPaddleAccount,
  newPaddleKey,
  newStripeAccount,
  newStripeKey,
  paddleObjects,
  seenBy,
  stripeEvent,
} from '../../harness'
import { advance, newWorld, only, rows, settle, stopClock, type World } from '../pipeline'

beforeEach(() => {
  stopClock()
})
afterEach(() => {
  vi.useRealTimers()
})

type Account = Parameters<typeof newStripeAccount>[0]
const KINDS = [
  'customers',
  'subscriptions',
  'invoices',
  'payment_methods',
  'checkout_sessions',
  'prices',
  'products',
  'events',
  'webhook_endpoints',
]
const all = (kinds: string[], refused: string[] = []) =>
  Object.fromEntries(kinds.map((kind) => [kind, refused.includes(kind) ? 'refused' : 'ok']))
const PADDLE_KINDS = [
  'customers',
  'subscriptions',
  'transactions',
  'payment_methods',
  'prices',
  'products',
  'events',
  'notification_settings',
]

const pathOf = ({ connection }: Pick<World, 'connection'>) => `/connections/${connection.id}/api-key`
const put = (world: World, api_key: string) => world.api(pathOf(world), { method: 'PUT', json: { api_key } })
const get = (world: World) => world.api(pathOf(world))
const remove = (world: World) => world.api(pathOf(world), { method: 'DELETE' })
const stored = ({ project }: World) =>
  rows<Record<string, unknown>>('SELECT * FROM vendor_keys WHERE project_id = ?', project)
const audited = async ({ project }: World) =>
  (
    await rows<{ action: string; details: string | null }>(
      "SELECT action, details FROM audit_log WHERE project_id = ? AND action LIKE 'connection.api_key%' ORDER BY id",
      project,
    )
  ).map(({ action, details }) => [action, JSON.parse(details ?? 'null')])

/** A world whose connection is of another vendor. */
async function worldOf(vendor: string, livemode = true): Promise<World> {
  const world = await newWorld()
  const { body } = await world.api('/connections', { method: 'POST', json: { vendor, name: vendor, livemode } })
  return { ...world, connection: { ...world.connection, id: body.id } }
}

describe('a key', () => {
  it('is tried, kept, shown without itself, replaced and removed, with an entry for each change', async () => {
    const world = await newWorld()
    expect((await get(world)).status).toBe(404)
    expect((await remove(world)).status).toBe(204)
    const first = await newStripeAccount()
    const shown = {
      hint: first.slice(-4),
      livemode: true,
      account: null,
      permissions: all(KINDS),
      state: 'ok',
      added_by: { type: 'api_key', id: world.key.id },
      checked_at: new Date().toISOString(),
    }
    expect(await put(world, first)).toMatchObject({ status: 200, body: shown })
    expect((await get(world)).body).toEqual(shown)
    const [{ box } = { box: '' }] = await stored(world)
    advance(MINUTE)
    const second = await newStripeAccount({ refused: ['invoices', 'checkout/sessions'] })
    const permissions = all(KINDS, ['invoices', 'checkout_sessions'])
    const after = { ...shown, hint: second.slice(-4), permissions, checked_at: new Date().toISOString() }
    expect((await put(world, second)).body).toEqual(after)
    expect((await get(world)).body).toEqual(after)
    expect((await only(stored(world))).box).not.toBe(box)
    advance(1)
    expect([(await remove(world)).status, (await remove(world)).status]).toEqual([204, 204])
    expect((await get(world)).status).toBe(404)
    expect(await stored(world)).toEqual([])
    expect(await audited(world)).toEqual([
      ['connection.api_key_set', { hint: first.slice(-4) }],
      ['connection.api_key_set', { hint: second.slice(-4) }],
      ['connection.api_key_removed', null],
    ])
  })

  it("of Paddle's is tried at its root, which tells what it may", async () => {
    const world = await worldOf('paddle')
    const key = await newPaddleAccount({ refused: ['prices'] })
    expect(await put(world, key)).toMatchObject({ status: 200, body: { permissions: all(PADDLE_KINDS, ['prices']) } })
    expect((await seenBy(key)).map(({ url }) => url)).toEqual(['https://api.paddle.com/'])
    const sandbox = await worldOf('paddle', false)
    const other = await newPaddleAccount({}, newPaddleKey('sdbx'))
    expect(await put(sandbox, other)).toMatchObject({ status: 200, body: { livemode: false } })
  })

  it('ends with its connection', async () => {
    const world = await newWorld()
    await put(world, await newStripeAccount())
    expect((await world.api(`/connections/${world.connection.id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await stored(world)).toEqual([])
    for (const response of [await get(world), await remove(world), await put(world, await newStripeAccount())])
      expect(response.status).toBe(404)
  })

  it('holds the mode of its connection', async () => {
    const world = await newWorld()
    const turn = (livemode: boolean) =>
      world.api(`/connections/${world.connection.id}`, {
        method: 'PATCH',
        json: { livemode, name: `live ${livemode}` },
      })
    await put(world, await newStripeAccount())
    expect((await turn(true)).status).toBe(200)
    expect(await turn(false)).toMatchObject({ status: 422, body: { code: 'api_key_other_mode' } })
    expect((await world.api(`/connections/${world.connection.id}`)).body).toMatchObject({
      livemode: true,
      name: 'live true',
    })
    await remove(world)
    expect(await turn(false)).toMatchObject({ status: 200, body: { livemode: false } })
    expect(await put(world, await newStripeAccount({}, newStripeKey('test')))).toMatchObject({ status: 200 })
  })
})

describe('a key that is not taken', () => {
  const WRITES = ['customer.read', 'customer.write', 'subscription.write']

  it.each<[string, string, string, Account | null, string]>([
    ['any text', 'stripe', 'hello', null, 'api_key_invalid'],
    ['a publishable key', 'stripe', 'pk_live_51abcdefghijkl', null, 'api_key_invalid'],
    ['a signing secret', 'stripe', 'whsec_0123456789', null, 'api_key_invalid'],
    ['a key with a line break', 'stripe', `${newStripeKey()}\nX: y`, null, 'validation_failed'],
    ['a key of another vendor', 'stripe', newPaddleKey(), null, 'api_key_invalid'],
    ['a key that the vendor does not know', 'stripe', newStripeKey(), null, 'api_key_invalid'],
    ['a key that has ended', 'stripe', newStripeKey(), { fail: { status: 401 } }, 'api_key_invalid'],
    ['a secret key', 'stripe', 'sk_live_51abcdefghijkl', null, 'api_key_too_powerful'],
    ['a secret key for tests', 'stripe', 'sk_test_51abcdefghijkl', null, 'api_key_too_powerful'],
    ['a key of the test mode', 'stripe', newStripeKey('test'), {}, 'api_key_other_mode'],
    ['a vendor that is down', 'stripe', newStripeKey(), { fail: { status: 500 } }, 'vendor_failed'],
    ['a vendor that is down at last', 'stripe', newStripeKey(), { fail: { status: 500, after: 8 } }, 'vendor_failed'],
    ['a vendor that has had enough', 'stripe', newStripeKey(), { fail: { status: 429 } }, 'vendor_failed'],
    ['a vendor that leads elsewhere', 'stripe', newStripeKey(), { fail: { status: 302, times: 1 } }, 'vendor_failed'],
    ['a vendor that hangs', 'stripe', newStripeKey(), { hang: true }, 'vendor_failed'],
    ['any text', 'paddle', 'hello', null, 'api_key_invalid'],
    ['an endpoint secret key', 'paddle', 'pdl_ntfset_01hello_world0123456789', null, 'api_key_invalid'],
    ['a key that the vendor does not know', 'paddle', newPaddleKey(), null, 'api_key_invalid'],
    ['a key without permissions of its own', 'paddle', 'a1'.repeat(25), null, 'api_key_too_powerful'],
    ['a key that may write', 'paddle', newPaddleKey(), { permissions: WRITES }, 'api_key_too_powerful'],
    ['a key of the sandbox', 'paddle', newPaddleKey('sdbx'), {}, 'api_key_other_mode'],
    ['a vendor that has had enough', 'paddle', newPaddleKey(), { fail: { status: 429 } }, 'vendor_failed'],
    [
      'a root that nobody knows',
      'paddle',
      newPaddleKey(),
      { fail: { status: 200, body: '{"data":{}}' } },
      'vendor_failed',
    ],
    ['any key', 'standard', newStripeKey(), null, 'api_key_unsupported'],
    ['any key', 'square', newStripeKey(), null, 'api_key_unsupported'],
  ])('%s, of %s', async (_, vendor, key, settings, code) => {
    const world = await worldOf(vendor)
    if (settings) await newStripeAccount(settings, key)
    const { timeout } = AbortSignal
    const limits: number[] = []
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      limits.push(ms)
      return timeout.call(AbortSignal, Math.min(ms, 300))
    })
    const { status, body } = await put(world, key)
    expect([code, body.code]).toEqual([code, code])
    expect(status).toBe(code === 'vendor_failed' ? 502 : code === 'api_key_unsupported' ? 409 : 422)
    expect(Math.max(...limits, 0)).toBeLessThanOrEqual(5000)
    expect(JSON.stringify(body)).not.toContain(key)
    expect(await stored(world)).toEqual([])
    expect(await audited(world)).toEqual([])
  })

  it('leaves the one that is there', async () => {
    const world = await newWorld()
    await put(world, await newStripeAccount())
    const before = await stored(world)
    for (const key of [newStripeKey(), await newStripeAccount({ fail: { status: 503 } }), newStripeKey('test')])
      expect((await put(world, key)).status).not.toBe(200)
    expect(await stored(world)).toEqual(before)
  })

  it('says which permissions are too many, and which vendors have keys', async () => {
    const world = await worldOf('paddle')
    const { body } = await put(world, await newPaddleAccount({ permissions: [...WRITES, '<b>.write'] }))
    expect(body.detail).toBe('The key can do more than read: customer.write, subscription.write, and more.')
    const other = await put(await worldOf('polar'), newStripeKey())
    expect(other.body.detail).toContain('Paddle, RevenueCat, Stripe')
  })

  it('because its connection was deleted, or turned to the other mode, while it was tried', async () => {
    const { fetch } = globalThis
    for (const [change, status] of [
      [{ method: 'DELETE' }, 404],
      [{ method: 'PATCH', json: { livemode: false } }, 422],
    ] as const) {
      const world = await newWorld()
      const key = await newStripeAccount()
      let changes = 0
      vi.spyOn(globalThis, 'fetch').mockImplementation(async (...args) => {
        if (changes++ === 0) await world.api(`/connections/${world.connection.id}`, change)
        return fetch(...args)
      })
      expect((await put(world, key)).status).toBe(status)
      expect(changes).toBeGreaterThan(1)
      expect(await stored(world)).toEqual([])
      expect(await audited(world)).toEqual([])
      vi.restoreAllMocks()
    }
  })
})

describe('the account of a key', () => {
  /** A world that has received these events. */
  async function received(...events: { id: string }[]): Promise<World> {
    const world = await newWorld()
    for (const event of events) {
      expect((await world.send(event)).status).toBe(200)
      advance(1)
    }
    await settle(world)
    return world
  }
  const [old, ...newest] = [stripeEvent(), stripeEvent(), stripeEvent(), stripeEvent()]

  it.each<[string, { id: string }[], Account, string]>([
    ['has the newest event', newest, { objects: newest.slice(2) }, 'same'],
    ['has one of the newest events', newest, { objects: newest.slice(0, 1) }, 'same'],
    ['has an older event alone', [old, ...newest], { objects: [old] }, 'api_key_other_account'],
    ['has none', newest, {}, 'api_key_other_account'],
    ['is not told, because the key may not read events', newest, { refused: ['events'] }, 'null'],
    ['is not told, because there is no event', [], {}, 'null'],
  ])('%s', async (_, events, settings, expected) => {
    // The same event twice in one project's connection is one: each case has a connection of its own.
    const world = await received(...events)
    const { body } = await put(world, await newStripeAccount(settings))
    expect(body.code ?? String(body.account)).toBe(expected)
  })

  it('is not told by events that are older than Stripe keeps them, or thin', async () => {
    const thin = {
      id: 'evt_thin',
      object: 'v2.core.event',
      type: 'v1.billing.meter.no_meter_found',
      created: '2026-11-01T00:00:00Z',
    }
    expect((await put(await received(thin), await newStripeAccount())).body).toMatchObject({ account: null })
    const world = await received(stripeEvent())
    advance(26 * 24 * 60 * MINUTE)
    expect((await put(world, await newStripeAccount())).body).toMatchObject({ account: null })
  })

  it("is told by the objects of Paddle's events", async () => {
    const world = await worldOf('paddle')
    const object = JSON.stringify({ object: { type: 'subscription', id: 'sub_000001', status: 'active' } })
    await rows(
      `INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, payload_id, status, last_delivered_at, summary)
       SELECT project_id, 'evt_' || substr(id, 5, 26), id, 'evt_1', 'subscription.created', 'pay_1', 'processed', 1, ? FROM connections WHERE id = ?`,
      object,
      world.connection.id,
    )
    const key = await newPaddleAccount({ objects: paddleObjects(1) })
    expect((await put(world, key)).body).toMatchObject({ account: 'same' })
    await changeAccount(key, { objects: { sub_000001: null } })
    expect((await put(world, key)).body).toMatchObject({ code: 'api_key_other_account' })
    await changeAccount(key, { refused: ['subscriptions'] })
    expect((await put(world, key)).body).toMatchObject({ account: null })
  })

  it('is told by deliveries, not by what was fetched', async () => {
    const event = stripeEvent()
    const world = await received(event)
    await rows(
      `INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, payload_id, status, last_delivered_at)
       SELECT project_id, replace(id, 'evt_', 'ftc_' || n), connection_id, 'ftc_' || n, 'fetch.customer', 'pay_1', 'processed', 1
       FROM events, (SELECT value AS n FROM json_each('[1,2,3,4]')) WHERE project_id = ?`,
      world.project,
    )
    expect((await put(world, await newStripeAccount({ objects: [event] }))).body).toMatchObject({ account: 'same' })
  })
})
