import type { PresetName, Verification } from './verification'

const BARE = { algorithm: 'sha256', unit: 's', tolerance_s: 300, signed: '{body}' } as const

/**
 * How known senders sign, to start a verification from. docs/guides/vendors.md says which of them are compared with the sender's own
 * library. The address beside each is its documentation.
 */
export const PRESETS: Readonly<Record<PresetName, Verification>> = {
  // https://www.cashfree.com/docs/payments/online/webhooks/signature-verification
  cashfree: {
    ...BARE,
    header: 'x-webhook-signature',
    encoding: 'base64',
    time_header: 'x-webhook-timestamp',
    unit: 'ms',
    signed: '{time}{body}',
    type: 'type',
    time: 'event_time',
  },
  // https://docs.cdp.coinbase.com/commerce/webhooks
  coinbase: {
    ...BARE,
    header: 'x-cc-webhook-signature',
    encoding: 'hex',
    id: 'event.id',
    type: 'event.type',
    time: 'event.created_at',
  },
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    ...BARE,
    header: 'x-hub-signature-256',
    prefix: 'sha256=',
    encoding: 'hex',
    id: 'header:x-github-delivery',
    type: 'header:x-github-event',
  },
  // https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/
  line: { ...BARE, header: 'x-line-signature', encoding: 'base64' },
  // https://linear.app/developers/webhooks
  linear: {
    ...BARE,
    header: 'linear-signature',
    encoding: 'hex',
    id: 'header:linear-delivery',
    type: 'type',
    time: 'createdAt',
  },
  // https://docs.moderntreasury.com/platform/docs/webhooks-overview
  'modern-treasury': {
    ...BARE,
    header: 'x-signature',
    encoding: 'hex',
    id: 'header:x-delivery-id',
    type: 'event',
    livemode: 'data.live_mode',
  },
  // https://docs.mollie.com/reference/webhooks-best-practices: two headers, so two pairs, while a secret is rotated
  mollie: {
    ...BARE,
    header: 'x-mollie-signature',
    pairs: { signature: 'sha256' },
    encoding: 'hex',
    id: 'id',
    type: 'type',
    time: 'createdAt',
  },
  // https://documentation.onfido.com/guide/webhooks
  onfido: { ...BARE, header: 'x-sha2-signature', encoding: 'hex', type: 'payload.action' },
  // https://razorpay.com/docs/webhooks/validate-test/
  razorpay: {
    ...BARE,
    header: 'x-razorpay-signature',
    encoding: 'hex',
    id: 'header:x-razorpay-event-id',
    type: 'event',
    time: 'created_at',
  },
  // https://www.sanity.io/docs/content-lake/webhooks
  sanity: {
    ...BARE,
    header: 'sanity-webhook-signature',
    pairs: { time: 't', signature: 'v1' },
    unit: 'ms',
    encoding: 'base64url',
    signed: '{time}.{body}',
    id: 'header:idempotency-key',
    type: 'header:sanity-operation',
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    ...BARE,
    header: 'x-slack-signature',
    prefix: 'v0=',
    encoding: 'hex',
    time_header: 'x-slack-request-timestamp',
    signed: 'v0:{time}:{body}',
    id: 'event_id',
    type: 'event.type',
    time: 'event_time',
  },
  // https://developers.webflow.com/data/docs/working-with-webhooks
  webflow: {
    ...BARE,
    header: 'x-webflow-signature',
    encoding: 'hex',
    time_header: 'x-webflow-timestamp',
    unit: 'ms',
    signed: '{time}:{body}',
    type: 'triggerType',
  },
  // https://workos.com/docs/events/data-syncing/webhooks
  workos: {
    ...BARE,
    header: 'workos-signature',
    pairs: { time: 't', signature: 'v1' },
    unit: 'ms',
    encoding: 'hex',
    signed: '{time}.{body}',
    id: 'id',
    type: 'event',
    time: 'created_at',
  },
}

/** The verification that a preset stands for. */
export function presetOf(name: PresetName): Verification {
  return { preset: name, ...PRESETS[name] }
}
