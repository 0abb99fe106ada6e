import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { stripe } from '../../src/vendors/stripe'
import { Undecodable } from '../../src/vendors/vendor'
import {
  bodyCases,
  decodeOne,
  type Fixture,
  header,
  headerCases,
  mac,
  mutations,
  now,
  rotation,
  TIME_CASES,
  textOf,
  twice,
  utf8,
  verify,
} from './harness'

const sdk = new Stripe('sk_test_x')
const H = 'stripe-signature'

const fixture: Fixture = {
  vendor: stripe,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  other: 'whsec_C2FVsBQIhrscChlQIMV3b5sSYspob7oD',
  body: JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'invoice.paid',
    data: { object: { object: 'invoice', note: 'Zoë ✓' } },
  }),
  // The SDK itself signs.
  sign: async (body, secret, at) => ({
    body,
    headers: new Headers({
      [H]: await sdk.webhooks.generateTestHeaderStringAsync({ payload: textOf(body), secret, timestamp: at / 1000 }),
    }),
  }),
  sdk: ({ headers, body }, secret) =>
    sdk.webhooks.constructEventAsync(textOf(body), headers.get(H) ?? '', secret).then(
      () => true,
      () => false,
    ),
}

const time = (change: (seconds: number) => string | number) =>
  header(H, (value) => value.replace(/t=(\d+)/, (_, seconds) => `t=${change(Number(seconds))}`))

mutations('stripe', fixture, [
  ...headerCases(fixture, H, 'hex', {
    'the signature in upper case': { sdkDiffers: 'it compares texts, not bytes' },
  }),
  ...bodyCases('signature_mismatch'),
  ...TIME_CASES,
  { name: 'the time changed', expected: 'signature_mismatch', change: time((t) => t - 1) },
  {
    name: 'the time with a zero before it',
    expected: 'signature_mismatch',
    change: time((t) => `0${t}`),
    sdkDiffers: 'it signs the number, not the text',
  },
  { name: 'the time a word', expected: 'signature_malformed', change: time(() => 'now') },
  { name: 'no time', expected: 'signature_malformed', change: header(H, (v) => v.replace(/t=\d+,/, '')) },
  {
    name: 'two times',
    expected: 'signature_malformed',
    change: header(H, (v) => `t=1,${v}`),
    sdkDiffers: 'it takes the last',
  },
  {
    name: 'the signature first, then the time',
    expected: 'accepted',
    change: header(H, (v) => v.split(',').reverse().join(',')),
  },
  {
    name: 'an unknown scheme beside it',
    expected: 'accepted',
    change: header(H, (v) => `${v},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`),
  },
  {
    name: 'only an unknown scheme',
    expected: 'signature_malformed',
    change: header(H, (v) => v.replace('v1=', 'v0=')),
  },
  {
    name: 'a wrong signature first',
    expected: 'accepted',
    change: header(H, (v) => v.replace('v1=', `v1=${'0'.repeat(64)},v1=`)),
  },
  { name: 'a wrong signature last', expected: 'accepted', change: header(H, (v) => `${v},v1=${'0'.repeat(64)}`) },
  { name: 'a cut signature beside it', expected: 'accepted', change: header(H, (v) => `${v},v1=abc`) },
  { name: 'semicolons for commas', expected: 'signature_malformed', change: header(H, (v) => v.replaceAll(',', ';')) },
  {
    name: 'the header twice',
    expected: 'accepted',
    change: twice(H),
  },
])

describe('stripe', () => {
  rotation('stripe', fixture)

  it('accepts a delivery signed with both the old and the new secret, as Stripe sends while it rolls one', async () => {
    const at = now()
    const { headers } = await fixture.sign(utf8(fixture.body), fixture.secret, at)
    const second = mac('sha256', fixture.other, 'hex', `${at / 1000}.`, fixture.body)
    const both = header(H, (value) => `${value},v1=${second}`)({ headers, body: utf8(fixture.body) })
    expect(await verify(fixture, both, at, [fixture.other])).toEqual({ ok: true, secret: 0 })
    expect(await verify(fixture, both, at, [fixture.secret])).toEqual({ ok: true, secret: 0 })
  })

  it('verifies bytes that are not UTF-8, which its SDK cannot', async () => {
    const at = now()
    const bytes = Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)
    const headers = new Headers({
      [H]: `t=${at / 1000},v1=${mac('sha256', fixture.secret, 'hex', `${at / 1000}.`, bytes)}`,
    })
    expect(await verify(fixture, { headers, body: bytes }, at)).toEqual({ ok: true, secret: 0 })
  })

  it('decodes an invoice, expanded or not, old and new API alike', () => {
    const invoice = {
      id: 'in_1',
      object: 'invoice',
      status: 'open',
      customer: { id: 'cus_1' },
      currency: 'jpy',
      total: 5000,
    }
    const event = {
      id: 'evt_1',
      object: 'event',
      type: 'invoice.finalized',
      created: 1751000000,
      livemode: false,
      api_version: '2026-01-28',
    }
    const old = decodeOne(stripe, { ...event, data: { object: { ...invoice, subscription: 'sub_1', charge: 'ch_1' } } })
    expect(old).toEqual({
      vendor_event_id: 'evt_1',
      event_type: 'invoice.finalized',
      occurred_at: '2025-06-27T04:53:20Z',
      livemode: false,
      api_version: '2026-01-28',
      object: { type: 'invoice', id: 'in_1', status: 'open' },
      customer: 'cus_1',
      subscription: 'sub_1',
      invoice: 'in_1',
      amount: { value: 5000, currency: 'JPY' },
      refs: ['in_1', 'cus_1', 'sub_1', 'ch_1'],
      state: 'invoice',
      content: { ...event, data: { object: { ...invoice, subscription: 'sub_1', charge: 'ch_1' } } },
    })
    const parent = { subscription_details: { subscription: 'sub_1' } }
    expect(decodeOne(stripe, { ...event, data: { object: { ...invoice, parent } } }).subscription).toBe('sub_1')
  })

  it.each([
    ['customer.subscription.deleted', 'subscription'],
    ['invoice.payment_failed', 'invoice'],
    ['invoice.upcoming', null],
    ['payment_method.attached', 'payment_method'],
    ['invoice_payment.paid', null],
    ['customer.updated', null],
    ['something.new', null],
  ])('finds that %s describes %s', (type, state) => {
    expect(decodeOne(stripe, { id: 'evt_1', object: 'event', type, data: { object: {} } }).state).toBe(state)
  })

  it('lists at most 8 refs, and refuses what is not an event', () => {
    const object = {
      id: 'a',
      object: 'x',
      customer: 'b',
      subscription: 'c',
      invoice: 'd',
      payment_intent: 'e',
      charge: 'f',
      payment_method: 'g',
      setup_intent: 'h',
      product: 'i',
    }
    expect(decodeOne(stripe, { id: 'evt_1', object: 'event', type: 'x', data: { object } }).refs).toEqual([
      ...'abcdefgh',
    ])
    for (const bad of [
      { ...object, object: 'invoice' },
      { object: 'event', type: 'x', data: { object } },
      { id: 'e', object: 'event', data: { object } },
      { id: 'e', object: 'event', type: 'x', data: {} },
    ]) {
      expect(() => stripe.decode(JSON.stringify(bad), {})).toThrow(Undecodable)
    }
  })

  it('decodes the envelope of a thin event, whose object is only named', () => {
    const thin = {
      id: 'evt_65',
      object: 'v2.core.event',
      type: 'v1.billing.meter.error_report_triggered',
      created: '2026-09-17T06:20:52.246Z',
      livemode: false,
      context: null,
      related_object: { id: 'mtr_1', type: 'billing.meter', url: '/v1/billing/meters/mtr_1' },
      reason: { type: 'request', request: { id: 'req_1', idempotency_key: 'k' } },
    }
    expect(decodeOne(stripe, thin)).toEqual({
      vendor_event_id: 'evt_65',
      event_type: 'v1.billing.meter.error_report_triggered',
      occurred_at: '2026-09-17T06:20:52.246Z',
      livemode: false,
      api_version: null,
      object: { type: 'billing.meter', id: 'mtr_1', status: null },
      customer: null,
      subscription: null,
      invoice: null,
      amount: null,
      refs: ['mtr_1'],
      state: null,
      content: thin,
    })
    const { related_object: _, ...bare } = thin
    expect(decodeOne(stripe, bare)).toMatchObject({ object: { type: null, id: null }, refs: [] })
    // Named like an event of the older API, it still has no object to take state from.
    const named = { ...thin, type: 'customer.subscription.updated', data: { object: { id: 'sub_1' } } }
    expect(stripe.snapshots?.(named)).toEqual([])
    expect(() => stripe.decode(JSON.stringify({ ...thin, id: null }), {})).toThrow(Undecodable)
  })

  it.each([
    ['charge', { balance_transaction: 'txn_1' }, 'txn_1'],
    ['subscription', { latest_invoice: { id: 'in_1' } }, 'in_1'],
    ['setup_intent', { latest_attempt: 'setatt_1' }, 'setatt_1'],
    ['subscription_schedule', { released_subscription: 'sub_1' }, 'sub_1'],
  ])('refers to what %s names: %o', (object, fields, ref) => {
    const event = {
      id: 'evt_1',
      object: 'event',
      type: `${object}.updated`,
      data: { object: { id: 'a', object, ...fields } },
    }
    expect(decodeOne(stripe, event).refs).toEqual(['a', ref])
  })

  it('checks the form of a signing secret', () => {
    expect(stripe.checkSecret(fixture.secret)).toBeNull()
    for (const bad of ['', 'whsec_', 'sk_live_51H8', ` ${fixture.secret}`])
      expect(stripe.checkSecret(bad)).toMatch(/whsec_/)
  })
})
