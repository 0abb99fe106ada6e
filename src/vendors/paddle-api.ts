import type { ApiRead, KeyFacts, VendorApi } from './api'
import type { ApiPattern } from './calls'
import { at, type Json, text } from './lib/json'
import { paddleCalls, paddleLists } from './paddle-calls'
import { paddlePastEvents } from './paddle-past-events'

/** Codes of a 403 that are about the key, in contrast to `forbidden`, which is about a permission. */
const OF_THE_KEY = ['invalid_token', 'authentication_malformed', 'authentication_missing']

const PATHS: Readonly<Record<string, ApiPattern>> = {
  customer: '/customers/{id}',
  subscription: '/subscriptions/{id}',
  transaction: '/transactions/{id}',
}

/**
 * Paddle's API. Its root says what a key can do, so nothing else is tried. Keys from before May 2025 have another form and no
 * permissions: they can do anything.
 * https://developer.paddle.com/api-reference/api-root/get-api-root
 * https://developer.paddle.com/api-reference/about/authentication
 */
export const paddleApi: VendorApi = {
  vendor: 'Paddle',
  origin: (key) => (isLive(key) ? 'https://api.paddle.com' : 'https://sandbox-api.paddle.com'),
  // 240 requests a minute. https://developer.paddle.com/api-reference/about/rate-limiting
  limitsAddress: true,
  headers: (key) => ({ Authorization: `Bearer ${key}`, 'Paddle-Version': '1' }),

  checkKey(key) {
    if (/^pdl_(live|sdbx)_apikey_\w{20,200}$/.test(key)) return null
    if (/^[0-9a-f]{50}$/.test(key))
      return {
        problem: 'too_powerful',
        why: 'A key from before May 2025 has no permissions, so it can do anything. Create a new key that has only the permissions it needs.',
      }
    return { problem: 'malformed', why: 'An API key of Paddle begins with pdl_live_apikey_ or pdl_sdbx_apikey_.' }
  },
  livemodeOf: isLive,

  pastEvents: paddlePastEvents,
  calls: paddleCalls,
  imports: paddleLists,
  reads: [
    read('customers', 'customer.read'),
    read('subscriptions', 'subscription.read'),
    read('transactions', 'transaction.read'),
    read('payment_methods', 'payment_method.read'),
    read('prices', 'price.read'),
    read('products', 'product.read'),
    read('events', 'event.read'),
    read('notification_settings', 'notification_setting.read'),
  ],
  /** Paddle has no path for one event, and deletes none of these objects. */
  sightOf({ object: { type, id } }) {
    const pattern = PATHS[type ?? '']
    return pattern === undefined || id === null ? null : { pattern, id }
  },
  about: { pattern: '/', facts: factsOf },

  errorCode: ({ error }) => text(at(error, 'code')) ?? text(at(error, 'type')),
  isKeyRefused: (status, code) => status === 401 || (status === 403 && OF_THE_KEY.includes(code ?? '')),
}

function isLive(key: string): boolean {
  return key.startsWith('pdl_live_')
}

function read(kind: string, permission: string): ApiRead {
  return { kind, permission }
}

/** A caller without an account is one whose key the API has not recognized. */
function factsOf(body: Json): KeyFacts | null {
  const environment = at(body, 'data', 'api', 'environment')
  const given = at(body, 'data', 'caller', 'permissions')
  const known = environment === 'production' || environment === 'sandbox'
  if (!known || !Array.isArray(given) || (at(body, 'data', 'caller', 'account') ?? null) === null) return null
  const permissions = given.filter((one) => typeof one === 'string')
  return {
    livemode: environment === 'production',
    permissions,
    writes: permissions.filter((one) => !one.endsWith('.read')),
  }
}
