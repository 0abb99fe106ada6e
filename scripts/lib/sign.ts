import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { Webhook } from 'standardwebhooks'
import type { VendorName } from '../../src/vendors/index.ts'
import { PRESETS } from '../../src/vendors/presets.ts'
import { partsOf } from '../../src/vendors/template.ts'
import type { PresetName } from '../../src/vendors/verification.ts'

/**
 * A delivery to sign. `name` makes the event id unique for vendors that send it in a header; `url`: its destination.
 */
export type Unsigned = {
  body: Buffer<ArrayBuffer>
  secret: string
  url: string
  name: string
  now: number
  /** Of the vendor `hmac`: the sender to sign as. */
  preset?: PresetName | undefined
}

type Signer = {
  /** Makes a random signing secret in the vendor's format. */
  newSecret: () => string
  /** The path of the event id in the body; absent if ids are in headers, in lists, or missing. */
  id?: readonly string[]
  /** Adds the signature to the body, for a vendor that signs inside it. */
  body?: (body: Buffer<ArrayBuffer>, secret: string) => Buffer<ArrayBuffer>
  /** The headers that the vendor sends with the body. */
  headers: (delivery: Unsigned) => Record<string, string> | Promise<Record<string, string>>
}

const hmac = (key: string, ...parts: (string | Buffer)[]) => {
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac
}
const random = () => randomBytes(16).toString('hex')
/** The same file gets the same id, so that sending a folder again gives duplicates, as a vendor's retry does. */
const idOf = ({ name, body }: Unsigned) =>
  createHash('sha256').update(`${name}\n`).update(body).digest('hex').slice(0, 32)
const seconds = (now: number) => Math.floor(now / 1000)

/** How each vendor signs its deliveries: except Braintree, which sends forms, and Apple and PayPal, which sign with private keys of their own. */
const SIGNERS: Record<Exclude<VendorName, 'apple' | 'braintree' | 'paypal'>, Signer> = {
  stripe: {
    id: ['id'],
    newSecret: () => `whsec_${random()}`,
    async headers({ body, secret, now }) {
      const timestamp = seconds(now)
      const payload = body.toString('utf8')
      // Stripe's library signs only strings, so bytes that are not UTF-8 are signed here as documented.
      if (!Buffer.from(payload).equals(body)) {
        return { 'Stripe-Signature': `t=${timestamp},v1=${hmac(secret, `${timestamp}.`, body).digest('hex')}` }
      }
      const { default: Stripe } = await import('stripe')
      return { 'Stripe-Signature': Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp }) }
    },
  },
  paddle: {
    id: ['event_id'],
    newSecret: () => `pdl_ntfset_${random()}`,
    headers({ body, secret, now }) {
      const ts = seconds(now)
      return { 'Paddle-Signature': `ts=${ts};h1=${hmac(secret, `${ts}:`, body).digest('hex')}` }
    },
  },
  standard: { newSecret: standardSecret, headers: signStandard },
  polar: { newSecret: standardSecret, headers: signStandard },
  lemonsqueezy: {
    newSecret: random,
    headers: ({ body, secret }) => ({ 'X-Signature': hmac(secret, body).digest('hex') }),
  },
  shopify: {
    newSecret: random,
    headers: (delivery) => ({
      'X-Shopify-Hmac-Sha256': hmac(delivery.secret, delivery.body).digest('base64'),
      'X-Shopify-Event-Id': idOf(delivery),
      // The topic is not in the body. The file name gives it: orders-paid.json and orders-paid.2.json are orders/paid.
      'X-Shopify-Topic': delivery.name.replace(/(\.\d+)?\.json$/, '').replace(/[-.]/, '/'),
      'X-Shopify-Triggered-At': new Date(delivery.now).toISOString(),
    }),
  },
  gocardless: {
    newSecret: random,
    headers: ({ body, secret }) => ({ 'Webhook-Signature': hmac(secret, body).digest('hex') }),
  },
  hmac: { newSecret: random, headers: signPreset },
  recurly: {
    newSecret: random,
    headers: (delivery) => ({
      'recurly-signature': `${delivery.now},${hmac(delivery.secret, `${delivery.now}.`, delivery.body).digest('hex')}`,
      'recurly-notification-id': idOf(delivery),
    }),
  },
  square: {
    id: ['event_id'],
    newSecret: random,
    headers: ({ body, secret, url }) => ({
      'x-square-hmacsha256-signature': hmac(secret, url, body).digest('base64'),
      'square-environment': 'Sandbox',
    }),
  },
  revenuecat: {
    id: ['event', 'id'],
    newSecret: () => `Bearer ${random()}`,
    headers: ({ secret }) => ({ Authorization: secret }),
  },
  chargebee: {
    id: ['id'],
    newSecret: () => `chargebee:${random()}`,
    headers: ({ secret }) => ({ Authorization: `Basic ${Buffer.from(secret).toString('base64')}` }),
  },
  adyen: { newSecret: () => randomBytes(32).toString('hex'), body: signAdyen, headers: () => ({}) },
}

export type SignedVendor = keyof typeof SIGNERS
export const SIGNED_VENDORS = Object.keys(SIGNERS) as SignedVendor[]

export function isSignedVendor(name: string | undefined): name is SignedVendor {
  return name !== undefined && Object.hasOwn(SIGNERS, name)
}

/** A random signing secret in the vendor's format. */
export function newSigningSecret(vendor: SignedVendor): string {
  return SIGNERS[vendor].newSecret()
}

/** The body as the vendor would send it. It changes only for a vendor that signs inside the body. */
export function signedBody(vendor: SignedVendor, body: Buffer<ArrayBuffer>, secret: string): Buffer<ArrayBuffer> {
  return SIGNERS[vendor].body?.(body, secret) ?? body
}

/** The headers that the vendor would send with this body. */
export async function signedHeaders(vendor: SignedVendor, delivery: Unsigned): Promise<Record<string, string>> {
  return { 'Content-Type': 'application/json', ...(await SIGNERS[vendor].headers(delivery)) }
}

/** The vendor's event id in a body, or null. */
export function eventIdOf(vendor: SignedVendor, body: Buffer): string | null {
  const path = SIGNERS[vendor].id
  if (!path) return null
  try {
    let here: unknown = JSON.parse(body.toString('utf8'))
    for (const key of path) here = (here as Record<string, unknown>)[key]
    return typeof here === 'string' ? here : null
  } catch {
    return null // Not an event of this vendor: it is sent all the same.
  }
}

function standardSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** Standard Webhooks. A secret without whsec_ is in Polar's older format: its UTF-8 bytes are the key. */
function signStandard(delivery: Unsigned): Record<string, string> {
  const { secret, body, now } = delivery
  const id = `msg_${idOf(delivery)}`
  const webhook = new Webhook(secret, secret.startsWith('whsec_') ? {} : { format: 'raw' })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds(now)),
    'webhook-signature': webhook.sign(id, new Date(now), body),
  }
}

/** The sender that the vendor `hmac` stands for, if none is named. */
export const USUAL_PRESET: PresetName = 'github'

/** As a sender with a preset signs. Values of the event that are in headers there are made up. */
function signPreset(delivery: Unsigned): Record<string, string> {
  const { body, secret, url, now, preset = USUAL_PRESET } = delivery
  const { algorithm, encoding, header, pairs, prefix = '', time_header, unit, signed, id, type } = PRESETS[preset]
  const time = String(unit === 'ms' ? now : seconds(now))
  const mac = createHmac(algorithm, secret)
  for (const part of partsOf(signed) ?? []) {
    if (part.of === 'header') throw new Error(`no preset signs a header: ${preset}`)
    mac.update(
      { text: () => (part as { text: string }).text, body: () => body, time: () => time, url: () => url }[part.of](),
    )
  }
  const signature = mac.digest(encoding)
  const inPairs =
    pairs && [...(pairs.time ? [`${pairs.time}=${time}`] : []), `${pairs.signature}=${signature}`].join(',')
  const inHeader = (place: string | null | undefined) => place?.match(/^header:(.+)$/)?.slice(1) ?? []
  return {
    [header]: inPairs ?? prefix + signature,
    ...(time_header && { [time_header]: time }),
    ...Object.fromEntries(inHeader(id).map((name) => [name, idOf(delivery)])),
    ...Object.fromEntries(inHeader(type).map((name) => [name, 'order.paid'])),
  }
}

/** The library is CommonJS, which Node and the type checker import differently. It is loaded on first use. */
const adyenLibrary = createRequire(import.meta.url)
type AdyenLibrary = typeof import('@adyen/api-library/lib/src/utils/hmacValidator')

/** Signs each item with Adyen's library. A body that is already signed, or is not a notification, stays unchanged. */
function signAdyen(body: Buffer<ArrayBuffer>, secret: string): Buffer<ArrayBuffer> {
  const { default: Validator } = adyenLibrary('@adyen/api-library/lib/src/utils/hmacValidator') as AdyenLibrary
  const validator = new Validator()
  let changed = false
  try {
    const notification = JSON.parse(body.toString('utf8'))
    for (const { NotificationRequestItem: item } of notification.notificationItems) {
      const hmacSignature = validator.calculateHmac(item, secret)
      changed ||= item.additionalData?.hmacSignature !== hmacSignature
      item.additionalData = { ...item.additionalData, hmacSignature }
    }
    return changed ? Buffer.from(JSON.stringify(notification)) : body
  } catch {
    return body
  }
}
