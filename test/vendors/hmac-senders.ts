import { validateSignature } from '@line/bot-sdk'
import { LinearWebhookClient } from '@linear/sdk/webhooks'
import { sign as signGitHub, verify as verifyGitHub } from '@octokit/webhooks-methods'
import { WebhookEventVerifier } from '@onfido/api/dist/webhook-event-verifier'
import { Environment, Paddle } from '@paddle/paddle-node-sdk'
import { encodeSignatureHeader, isValidSignature } from '@sanity/webhook'
import { WorkOS } from '@workos-inc/node/worker'
import { verifySignature } from 'gocardless-nodejs/webhooks'
import { ModernTreasury } from 'modern-treasury'
import razorpay from 'razorpay/dist/utils/razorpay-utils'
import Stripe from 'stripe'
import { vi } from 'vitest'
import { presetOf } from '../../src/vendors/presets'
import type { PresetName, Verification } from '../../src/vendors/verification'
import { mac, textOf } from './harness'

/*
 * Senders that the vendor `hmac` takes by configuration alone. The sender's own library signs or verifies, where one does that
 * is small: the others are signed as their documentation says.
 */

export const SECRET = 'secret_of_the_sender_0123456789'
export const OTHER = 'secret_of_somebody_else_98765432'
export const SENT = Date.UTC(2026, 4, 4, 3, 2, 1)
export const BODY = JSON.stringify({ id: 'evt_1', type: 'a.b', webhookTimestamp: SENT, name: 'Zoë ✓ \u00e9', data: {} })

const hex = (secret: string, ...parts: (string | Uint8Array)[]) => mac('sha256', secret, 'hex', ...parts)
const base64 = (secret: string, ...parts: (string | Uint8Array)[]) => mac('sha256', secret, 'base64', ...parts)
const treasury = (webhookKey: string) => new ModernTreasury({ organizationID: 'o', apiKey: 'a', webhookKey })
const workos = new WorkOS('sk_x', { clientId: 'client_x' })
const stripe = new Stripe('sk_test_x')
const paddle = new Paddle('pdl_sdbx_apikey_x', { environment: Environment.sandbox })

/** Whether a library accepts, of which some throw and others say so. */
export const accepts = async (ask: () => unknown): Promise<boolean> => {
  try {
    return (await ask()) !== false
  } catch {
    return false
  }
}

export type Sender = {
  verification: Verification
  /** The headers of a delivery, signed at a time (ms). */
  sign: (body: Uint8Array, secret: string, at: number) => Record<string, string> | Promise<Record<string, string>>
  /** What the sender's own library says of the header with the signature. */
  sdk?: (value: string, body: Uint8Array, secret: string, headers: Headers) => unknown
  /** Where it says something else, by the name of the case. */
  differs?: Record<string, string>
}

const BARE = { algorithm: 'sha256', unit: 's', tolerance_s: 300, signed: '{body}' } as const
const isHex = 'it compares texts, not bytes'
const lenient = 'it decodes as far as it can: other characters, missing padding, what follows'
const one = 'it takes one pair of each name and no others'
const ignores = 'it looks at the first ones only, or at any number'
const prefixed = 'it cuts off what it takes for the prefix'
const reads = 'it signs the number that it reads, not its text'

export const SENDERS: Record<PresetName | 'stripe' | 'paddle' | 'gocardless', Sender> = {
  github: {
    verification: presetOf('github'),
    sign: async (body, secret) => ({ 'x-hub-signature-256': await signGitHub(secret, textOf(body)) }),
    sdk: (value, body, secret) => verifyGitHub(secret, textOf(body), value),
    differs: { 'with a space inside': lenient, 'without its prefix': prefixed },
  },
  line: {
    verification: presetOf('line'),
    sign: (body, secret) => ({ 'x-line-signature': base64(secret, body) }),
    sdk: (value, body, secret) => validateSignature(Buffer.from(body), secret, value),
    differs: {
      'without its padding': lenient,
      'with a space inside': lenient,
      'the signature longer by a byte': lenient,
      'two signatures with a comma, the right one first': lenient,
      'the header twice': lenient,
    },
  },
  razorpay: {
    verification: presetOf('razorpay'),
    sign: (body, secret) => ({ 'x-razorpay-signature': hex(secret, body) }),
    sdk: (value, body, secret) => razorpay.validateWebhookSignature(textOf(body), value, secret),
    differs: { 'the signature in upper case': isHex },
  },
  onfido: {
    verification: presetOf('onfido'),
    sign: (body, secret) => ({ 'x-sha2-signature': hex(secret, body) }),
    sdk: (value, body, secret) => new WebhookEventVerifier(secret).readPayload(Buffer.from(body), value),
    differs: { 'two signatures with a comma, the right one first': lenient, 'the header twice': lenient },
  },
  'modern-treasury': {
    verification: presetOf('modern-treasury'),
    sign: (body, secret) => ({ 'x-signature': treasury(secret).webhooks.getSignature(textOf(body)) }),
    sdk: (value, body, secret) => treasury(secret).webhooks.validateSignature(textOf(body), { 'X-Signature': value }),
    differs: { 'the signature in upper case': isHex },
  },
  linear: {
    verification: presetOf('linear'),
    sign: (body, secret) => ({ 'linear-signature': hex(secret, body) }),
    sdk: (value, body, secret) => {
      vi.useFakeTimers({ now: SENT, toFake: ['Date'] })
      try {
        return new LinearWebhookClient(secret).verify(Buffer.from(body), value)
      } finally {
        vi.useRealTimers()
      }
    },
    differs: { 'the signature in upper case': isHex },
  },
  sanity: {
    verification: presetOf('sanity'),
    sign: async (body, secret, at) => ({
      'sanity-webhook-signature': await encodeSignatureHeader(textOf(body), at, secret),
    }),
    sdk: (value, body, secret) => isValidSignature(textOf(body), value, secret),
    differs: {
      'two signatures with a comma, the right one first': one,
      'sixteen signatures': one,
      'a pair of another name beside it': one,
    },
  },
  workos: {
    verification: presetOf('workos'),
    sign: async (body, secret, at) => ({
      'workos-signature': `t=${at}, v1=${await workos.webhooks.computeSignature(String(at), textOf(body), secret)}`,
    }),
    sdk: (value, body, secret) =>
      workos.webhooks.verifyHeader({ payload: textOf(body), sigHeader: value, secret, tolerance: 300_000 }),
    differs: { 'the signature in upper case': isHex, 'seventeen signatures': ignores, 'two times': ignores },
  },
  stripe: {
    verification: {
      ...BARE,
      header: 'stripe-signature',
      encoding: 'hex',
      pairs: { time: 't', signature: 'v1' },
      signed: '{time}.{body}',
    },
    sign: async (body, secret, at) => ({
      'stripe-signature': await stripe.webhooks.generateTestHeaderStringAsync({
        payload: textOf(body),
        secret,
        timestamp: at / 1000,
      }),
    }),
    sdk: (value, body, secret) => stripe.webhooks.constructEventAsync(textOf(body), value, secret),
    differs: {
      'the signature in upper case': isHex,
      'seventeen signatures': ignores,
      'the time with a zero before it': reads,
      'the time with a fraction': reads,
    },
  },
  paddle: {
    verification: {
      ...BARE,
      header: 'paddle-signature',
      encoding: 'hex',
      pairs: { time: 'ts', signature: 'h1' },
      signed: '{time}:{body}',
    },
    sign: (body, secret, at) => ({ 'paddle-signature': `ts=${at / 1000};h1=${hex(secret, `${at / 1000}:`, body)}` }),
    sdk: (value, body, secret) => paddle.webhooks.isSignatureValid(textOf(body), secret, value),
    differs: {
      'the signature in upper case': isHex,
      'two signatures with a comma, the right one first': one,
      'sixteen signatures': one,
      'a pair of another name beside it': one,
      'the time with a zero before it': reads,
      'the time with a fraction': reads,
    },
  },
  gocardless: {
    verification: { ...BARE, header: 'webhook-signature', encoding: 'hex' },
    sign: (body, secret) => ({ 'webhook-signature': hex(secret, body) }),
    sdk: (value, body, secret) => verifySignature(Buffer.from(body), secret, value),
    differs: { 'two signatures with a comma, the right one first': lenient, 'the header twice': lenient },
  },
  // By documentation only, as their libraries need dozens of packages more, or verify nothing.
  cashfree: {
    verification: presetOf('cashfree'),
    sign: (body, secret, at) => ({
      'x-webhook-signature': base64(secret, String(at), body),
      'x-webhook-timestamp': String(at),
    }),
  },
  coinbase: {
    verification: presetOf('coinbase'),
    sign: (body, secret) => ({ 'x-cc-webhook-signature': hex(secret, body) }),
  },
  mollie: {
    verification: presetOf('mollie'),
    sign: (body, secret) => ({ 'x-mollie-signature': `sha256=${hex(secret, body)}` }),
  },
  slack: {
    verification: presetOf('slack'),
    sign: (body, secret, at) => ({
      'x-slack-signature': `v0=${hex(secret, `v0:${at / 1000}:`, body)}`,
      'x-slack-request-timestamp': String(at / 1000),
    }),
  },
  webflow: {
    verification: presetOf('webflow'),
    sign: (body, secret, at) => ({
      'x-webflow-signature': hex(secret, `${at}:`, body),
      'x-webflow-timestamp': String(at),
    }),
  },
}
