import { createHash, createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { notificationBody, sharedChain, trustRootOf } from '../vendors/apple-chain'

/* Deliveries as vendors sign them: with the library of Standard Webhooks, or else with Node's HMAC. Apple's have the root
 * of a chain that the tests make, which the service trusts until the test ends. */

const SECRETS = {
  stripe: 'whsec_a_secret_of_the_tests',
  paddle: 'pdl_ntfset_a_secret_of_the_tests',
  polar: 'whsec_YSBzZWNyZXQgb2YgdGhlIHRlc3RzLCBvbmx5IG9mIHRoZW0=',
  lemonsqueezy: 'a secret of the tests',
  chargebee: 'webhooks:a-secret-of-the-tests',
  square: 'a-secret-of-the-tests',
  shopify: 'shpss_a_secret_of_the_tests',
  braintree: 'integration_public_key:integration_private_key',
  apple: 'com.example.app:1234567890',
  revenuecat: 'signing:a-secret-of-the-tests',
  gocardless: 'a-secret-of-the-tests',
} as const
export type SignedVendor = keyof typeof SECRETS
type Delivery = { body: string; headers: Record<string, string> }

export const secretOf = (vendor: SignedVendor): string => SECRETS[vendor]

let sent = 0

/**
 * A delivery.
 *
 * @param payload a text is sent as it is. Of Braintree, `{ xml }`; of Shopify, `{ headers, body }`
 * @param environment what Square says in a header
 */
export async function signedAs(
  vendor: SignedVendor,
  payload: unknown,
  url: string,
  environment = 'Production',
): Promise<Delivery> {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const secret = SECRETS[vendor]
  const mac = (encoding: 'hex' | 'base64', ...parts: string[]) =>
    createHmac('sha256', secret).update(parts.join('')).digest(encoding)
  const now = Math.floor(Date.now() / 1000)
  switch (vendor) {
    case 'stripe':
      return { body, headers: { 'Stripe-Signature': `t=${now},v1=${mac('hex', `${now}.`, body)}` } }
    case 'paddle':
      return { body, headers: { 'Paddle-Signature': `ts=${now};h1=${mac('hex', `${now}:`, body)}` } }
    case 'polar': {
      const id = eventIdIn(payload) ?? nextId()
      const signature = new Webhook(secret).sign(id, new Date(now * 1000), body)
      return { body, headers: { 'webhook-id': id, 'webhook-timestamp': String(now), 'webhook-signature': signature } }
    }
    case 'revenuecat': {
      const key = secret.replace('signing:', '')
      const signature = createHmac('sha256', key).update(`${now}.${body}`).digest('hex')
      return { body, headers: { 'X-RevenueCat-Webhook-Signature': `t=${now},v1=${signature}` } }
    }
    case 'gocardless':
      return { body, headers: { 'Webhook-Signature': mac('hex', body) } }
    case 'lemonsqueezy':
      return { body, headers: { 'X-Signature': mac('hex', body) } }
    case 'chargebee':
      return { body, headers: { Authorization: `Basic ${btoa(secret)}` } }
    case 'square':
      return {
        body,
        headers: { 'x-square-hmacsha256-signature': mac('base64', url, body), 'square-environment': environment },
      }
    case 'apple': {
      const chain = await sharedChain()
      trustRootOf(chain)
      return { body: await notificationBody(payload, chain), headers: {} }
    }
    case 'shopify': {
      const { headers, body } = payload as { headers: Record<string, string>; body: unknown }
      const text = JSON.stringify(body)
      const signature = createHmac('sha256', secret).update(text).digest('base64')
      return { body: text, headers: { 'x-shopify-hmac-sha256': signature, ...headers } }
    }
    case 'braintree':
      return { body: form((payload as { xml: string }).xml), headers: {} }
  }
}

function nextId(): string {
  sent += 1
  return `msg_${sent}`
}

/** Polar's id of an event is a header. The tests put it beside the payload's own fields. */
function eventIdIn(payload: unknown): string | null {
  const id = (payload as { webhook_id?: unknown } | null)?.webhook_id
  return typeof id === 'string' ? id : null
}

/** A form as Braintree's library makes it, which signs only samples of its own. */
function form(xml: string): string {
  const [publicKey = '', privateKey = ''] = SECRETS.braintree.split(':')
  const bt_payload = `${new TextEncoder().encode(xml).toBase64()}\n`
  const key = createHash('sha1').update(privateKey).digest()
  const signature = createHmac('sha1', key).update(bt_payload).digest('hex')
  return new URLSearchParams({ bt_signature: `${publicKey}|${signature}`, bt_payload }).toString()
}
