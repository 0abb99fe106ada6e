import { Webhook } from 'standardwebhooks'
import { hex, hmac, utf8 } from '../../../src/lib/crypto'
import { paddle } from '../../../src/vendors/paddle'
import { paddleEventOf, paddleSubscription } from '../../billing/payloads'
import {
  chargebeeEvent,
  chargebeeSubscription,
  LEMON_SUBSCRIPTION,
  lemonEvent,
  lemonSubscription,
  polarEvent,
  polarSubscription,
} from '../../billing/payloads-more'
import {
  type AccountSettings,
  call,
  heldBy,
  type Json,
  newChargebeeAccount,
  newChargebeeKey,
  newLemonAccount,
  newLemonKey,
  newPaddleAccount,
  newPaddleKey,
  newPolarAccount,
  newPolarKey,
  newStripeAccount,
  newStripeKey,
  type RequestOptions,
  seenBy,
  signStripe,
  stripeEvent,
} from '../../harness'
import type { Item } from '../../outside/account'
import { isPolarEndpoint } from '../../outside/polar'
import { newWorld, rows } from '../pipeline'
import { setKey } from '../refresh/world'

/*
 * A connection of a vendor, an account there, and the endpoints in it. The connection has no signing secret at first.
 */

export type EndpointWorld = Awaited<ReturnType<typeof endpointWorld>>

/** A vendor as its stand-in is: keys, endpoints, and how it signs. */
const VENDORS = {
  stripe: {
    newKey: newStripeKey,
    open: newStripeAccount,
    is: (one: Item) => one.object === 'webhook_endpoint',
    signed: async ({ secret }: Item, body: string) => ({ 'Stripe-Signature': await signStripe(body, String(secret)) }),
    event: () => stripeEvent(),
  },
  paddle: {
    newKey: newPaddleKey,
    open: newPaddleAccount,
    is: ({ id }: Item) => String(id).startsWith('ntfset_'),
    signed: async ({ endpoint_secret_key }: Item, body: string) => {
      const ts = Math.floor(Date.now() / 1000)
      const h1 = hex(await hmac('SHA-256', utf8(String(endpoint_secret_key)), `${ts}:`, body))
      return { 'Paddle-Signature': `ts=${ts};h1=${h1}` }
    },
    event: () => paddleEventOf('subscription.updated', paddleSubscription()),
  },
  polar: {
    newKey: newPolarKey,
    open: newPolarAccount,
    is: isPolarEndpoint,
    signed: async ({ secret }: Item, body: string) => {
      const now = new Date()
      const signature = new Webhook(String(secret)).sign('msg_1', now, body)
      const at = String(Math.floor(now.getTime() / 1000))
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': signature }
    },
    event: () => polarEvent('subscription.updated', polarSubscription()),
  },
  lemonsqueezy: {
    newKey: newLemonKey,
    open: newLemonAccount,
    is: ({ type }: Item) => type === 'webhooks',
    signed: async ({ hidden }: Item, body: string) => ({
      'X-Signature': hex(await hmac('SHA-256', utf8(String((hidden as Item).secret)), body)),
    }),
    event: () => lemonEvent('subscription_updated', LEMON_SUBSCRIPTION, lemonSubscription()),
  },
  chargebee: {
    newKey: newChargebeeKey,
    open: newChargebeeAccount,
    is: () => true,
    signed: async ({ basic_auth_username: user, basic_auth_password: password }: Item) => ({
      Authorization: `Basic ${btoa(`${user}:${password}`)}`,
    }),
    event: () => chargebeeEvent('subscription_changed', { subscription: chargebeeSubscription() }),
  },
}
/** What a call says beside the key. */
const BESIDE: Partial<Record<keyof typeof VENDORS, object>> = { chargebee: { account: 'acme' } }

/** @param settings of the account. Its key may change endpoints, unless they say otherwise */
export async function endpointWorld(settings: AccountSettings = {}, vendor: keyof typeof VENDORS = 'stripe') {
  const world = await newWorld()
  const standIn = VENDORS[vendor]
  const json = { vendor, name: 'Shop', livemode: true }
  const { body: connection } = await world.api('/connections', { method: 'POST', json })
  const key = await standIn.open({ writes: true, ...settings })
  const path = `/connections/${connection.id}/endpoint`
  const post = (api_key: string, more: object = {}, options: RequestOptions = {}) =>
    world.api(path, { method: 'POST', json: { api_key, ...BESIDE[vendor], ...more }, ...options })
  const endpoints = async () =>
    Object.values(await heldBy(key)).filter((one): one is Item => one !== null && standIn.is(one))
  return {
    ...world,
    shop: connection as { id: string; ingest_url: string },
    /** The key that may write. */
    writeKey: key,
    newKey: () => standIn.newKey(),
    /** The requests to the account. */
    requests: () => seenBy(key),
    path,
    post,
    setUp: (more: object = {}, options: RequestOptions = {}) => post(key, more, options),
    check: (options: RequestOptions = {}) => world.api(path, options),
    endpoints,
    /** The connection as the API shows it. */
    read: async (): Promise<Json> => (await world.api(`/connections/${connection.id}`)).body,
    /** Lets the connection have a key that can only read the account. */
    async readable(more: AccountSettings = {}, readKey = standIn.newKey()): Promise<string> {
      await standIn.open({ ...more, same_as: key, writes: false }, readKey)
      await setKey(world, connection.id, readKey)
      return readKey
    },
    /** What the requests to the account have changed: methods and paths. */
    changes: async () =>
      (await seenBy(key))
        .filter(({ method }) => method !== 'GET')
        .map(
          ({ method, url }) =>
            `${method} ${new URL(url).pathname.replace(/(we|ntfset|whv2)_\w+|\/(\d+|[\da-f-]{36})$/, (_, prefix) => (prefix ? '{id}' : '/{id}'))}`,
        ),
    /** Sends an event as an endpoint of the account would. @returns the status */
    deliverFrom: async (endpoint: Item) => {
      const body = JSON.stringify(standIn.event())
      const headers = { 'Content-Type': 'application/json', ...(await standIn.signed(endpoint, body)) }
      const bindings = { EVENTS: world.queue.EVENTS }
      return (await call(`/ingest/${connection.id}`, { method: 'POST', body, headers, bindings })).status
    },
    stored: async () => {
      const [row] = await rows<Record<string, unknown>>(
        'SELECT * FROM vendor_endpoints WHERE project_id = ?',
        world.project,
      )
      return row && { ...row, result: JSON.parse(String(row.result)) }
    },
  }
}

let made = 0
/** An endpoint of Stripe's, as somebody made it by hand. */
export function endpointAt(url: string, more: Item = {}): Item & { id: string } {
  made += 1
  return {
    id: `we_${Date.now()}${made}`,
    object: 'webhook_endpoint',
    api_version: '2026-10-28.endive',
    created: Math.floor(Date.now() / 1000),
    enabled_events: ['*'],
    livemode: true,
    metadata: {},
    status: 'enabled',
    url,
    secret: `whsec_by_hand_${made}_0123456789`,
    ...more,
  }
}

/** The names of findings. */
export const named = (body: Json): string[] => body.findings.map(({ finding }: { finding: string }) => finding)

/** A notification setting of Paddle's, as somebody made it by hand. */
export function settingAt(destination: string, more: Item = {}): Item & { id: string } {
  made += 1
  return {
    id: `ntfset_00${Date.now()}${made}`,
    type: 'url',
    description: 'By hand',
    destination,
    active: true,
    api_version: 1,
    include_sensitive_fields: false,
    traffic_source: 'platform',
    subscribed_events: (paddle.endpoints?.needed ?? []).map((name) => ({ name })),
    endpoint_secret_key: `pdl_ntfset_by_hand_${made}_0123456789`,
    ...more,
  }
}
