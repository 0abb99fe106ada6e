import { describe, expect, it } from 'vitest'
import { recurly } from '../../src/vendors/recurly'
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
  twice,
  utf8,
  verify,
} from './harness'

const H = 'recurly-signature'

// From the vendor's documentation only: its Node library neither signs nor verifies webhooks.
const fixture: Fixture = {
  vendor: recurly,
  secret: 'f29b2fe2f2b14c6f9c4ae3d1f0e5a6b7',
  other: '0f9e8d7c6b5a49382716f5e4d3c2b1a0',
  body: JSON.stringify({ id: 's1', object_type: 'subscription', event_type: 'created', note: 'Zoë ✓' }),
  sign: (body, secret, at) => ({
    body,
    headers: new Headers({ [H]: `${at},${mac('sha256', secret, 'hex', `${at}.`, body)}` }),
  }),
}

const time = (change: (time: string) => string) => header(H, (v) => v.replace(/^\d+/, change))

mutations('recurly', fixture, [
  ...headerCases(fixture, H, 'hex'),
  ...bodyCases('signature_mismatch'),
  ...TIME_CASES,
  {
    name: 'the time changed by a millisecond',
    expected: 'signature_mismatch',
    change: time((t) => `${Number(t) + 1}`),
  },
  {
    name: 'the time in seconds, signed in milliseconds',
    expected: 'signature_mismatch',
    change: time((t) => t.slice(0, -3)),
  },
  { name: 'the time with a zero before it', expected: 'signature_mismatch', change: time((t) => `0${t}`) },
  { name: 'the time a word', expected: 'signature_malformed', change: time(() => 'now') },
  { name: 'no time', expected: 'signature_malformed', change: time(() => '') },
  {
    name: 'the signature first, then the time',
    expected: 'signature_malformed',
    change: header(H, (v) => v.split(',').reverse().join(',')),
  },
  {
    name: 'a wrong signature first',
    expected: 'accepted',
    change: header(H, (v) => v.replace(',', `,${'0'.repeat(64)},`)),
  },
  { name: 'a wrong signature last', expected: 'accepted', change: header(H, (v) => `${v},${'0'.repeat(64)}`) },
  { name: 'a space after the comma', expected: 'accepted', change: header(H, (v) => v.replace(',', ', ')) },
  { name: 'the header twice', expected: 'accepted', change: twice(H) },
])

describe('recurly', () => {
  rotation('recurly', fixture)

  it('reads times in seconds too, with the same tolerance', async () => {
    const at = now()
    const seconds = String(at / 1000)
    const signed = {
      body: utf8(fixture.body),
      headers: new Headers({ [H]: `${seconds},${mac('sha256', fixture.secret, 'hex', `${seconds}.`, fixture.body)}` }),
    }
    expect(await verify(fixture, signed, at + 300_000)).toEqual({ ok: true, secret: 0 })
    expect(await verify(fixture, signed, at + 301_000)).toEqual({
      ok: false,
      cause: 'signature_timestamp',
      skew_ms: 301_000,
    })
  })

  const event = {
    id: 'ra8foq26o2dt',
    object_type: 'subscription',
    site_id: 'qc3',
    event_type: 'created',
    event_time: '2026-07-26T22:01:56Z',
    uuid: '63ab53',
  }

  it('takes the object’s id from the payload, and the event’s from a header', () => {
    expect(decodeOne(recurly, event, { 'recurly-notification-id': 'n-1' })).toEqual({
      vendor_event_id: 'n-1',
      event_type: 'subscription.created',
      occurred_at: '2026-07-26T22:01:56Z',
      livemode: null,
      api_version: null,
      object: { type: 'subscription', id: 'ra8foq26o2dt', status: null },
      customer: null,
      subscription: 'ra8foq26o2dt',
      invoice: null,
      amount: null,
      refs: ['ra8foq26o2dt', '63ab53'],
      state: null,
      content: event,
    })
    // A later event of the same subscription is not a repetition of the first one.
    expect(decodeOne(recurly, { ...event, event_type: 'renewed' }).vendor_event_id).toBeNull()
  })

  it('recognizes accounts and invoices', () => {
    expect(decodeOne(recurly, { ...event, object_type: 'account', account_code: 'verena' })).toMatchObject({
      customer: 'ra8foq26o2dt',
      refs: ['ra8foq26o2dt', '63ab53', 'verena'],
    })
    expect(
      decodeOne(recurly, {
        ...event,
        object_type: 'charge_invoice',
        event_type: 'past_due',
        account_code: 'verena',
        invoice_number: 1031,
      }),
    ).toMatchObject({
      event_type: 'charge_invoice.past_due',
      customer: 'verena',
      invoice: 'ra8foq26o2dt',
      refs: ['ra8foq26o2dt', '63ab53', 'verena', '1031'],
    })
    for (const bad of [
      { ...event, object_type: 1 },
      { ...event, event_type: '' },
    ]) {
      expect(() => recurly.decode(JSON.stringify(bad), {})).toThrow(Undecodable)
    }
    expect(recurly.checkSecret(fixture.secret)).toBeNull()
    expect(recurly.checkSecret('')).toMatch(/Recurly/)
  })
})
