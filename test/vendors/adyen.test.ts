// The whole library loads a client for each of Adyen's APIs; this is the part that signs.
import Validator from '@adyen/api-library/lib/src/utils/hmacValidator'
import { describe, expect, it } from 'vitest'
import { adyen } from '../../src/vendors/adyen'
import { Undecodable } from '../../src/vendors/vendor'
import {
  type Bytes,
  body,
  type Case,
  decodeOne,
  type Fixture,
  header,
  mutations,
  now,
  rotation,
  type Signed,
  textOf,
  utf8,
  verify,
} from './harness'

const sdk = new Validator()
type Item = Record<string, unknown>
const NotificationRequestItem: Item = {
  pspReference: '7914073381342284',
  originalReference: '',
  merchantAccountCode: 'TestMerchant',
  merchantReference: 'Zoë-1',
  amount: { value: 1130, currency: 'EUR' },
  eventCode: 'AUTHORISATION',
  success: 'true',
  eventDate: '2026-05-06T17:15:34.12+02:00',
  paymentMethod: 'visa',
  reason: '',
  additionalData: { shopperReference: 'shopper-1' },
}
const second: Item = {
  ...NotificationRequestItem,
  pspReference: '8814073381342285',
  eventCode: 'CAPTURE',
  originalReference: '7914073381342284',
}
const wrap = (...items: Item[]) =>
  JSON.stringify({ live: 'false', notificationItems: items.map((it) => ({ NotificationRequestItem: it })) })
const itemsOf = (bytes: Bytes) =>
  (JSON.parse(textOf(bytes)) as { notificationItems: { NotificationRequestItem: Item }[] }).notificationItems.map(
    (it) => it.NotificationRequestItem,
  )

const fixture: Fixture = {
  vendor: adyen,
  secret: '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
  other: '54782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056',
  body: wrap(NotificationRequestItem, second),
  // The SDK itself signs each item …
  sign: (bytes, secret) => ({
    headers: new Headers(),
    body: utf8(
      wrap(
        ...itemsOf(bytes).map((item) => ({
          ...item,
          additionalData: {
            ...(item.additionalData as object),
            hmacSignature: sdk.calculateHmac(item as never, secret),
          },
        })),
      ),
    ),
  }),
  // … and tells whether it accepts each one.
  sdk: (signed, secret) => {
    try {
      const items = itemsOf(signed.body)
      return items.length > 0 && items.every((item) => sdk.validateHMAC(item as never, secret))
    } catch {
      return false
    }
  },
}

/** Changes the second item, after it was signed. */
const item = (change: (item: Item) => Item) =>
  body((bytes) => {
    const [first, last] = itemsOf(bytes) as [Item, Item]
    return utf8(wrap(first, change(last)))
  })
const set = (field: string, value: unknown) => item((it) => ({ ...it, [field]: value }))
const signature = (change: (signature: string) => unknown) =>
  item((it) => ({
    ...it,
    additionalData: { hmacSignature: change((it.additionalData as { hmacSignature: string }).hmacSignature) },
  }))
const whole = (change: (text: string) => string) => body((bytes) => utf8(change(textOf(bytes))))

const cases: Case[] = [
  { name: 'as signed', expected: 'accepted' },
  ...['pspReference', 'originalReference', 'merchantAccountCode', 'merchantReference', 'eventCode', 'success'].map(
    (field): Case => ({ name: `${field} changed`, expected: 'signature_mismatch', change: set(field, 'x') }),
  ),
  {
    name: 'the amount changed',
    expected: 'signature_mismatch',
    change: set('amount', { value: 1131, currency: 'EUR' }),
  },
  {
    name: 'the currency changed',
    expected: 'signature_mismatch',
    change: set('amount', { value: 1130, currency: 'USD' }),
  },
  { name: 'the amount as a text', expected: 'accepted', change: set('amount', { value: '1130', currency: 'EUR' }) },
  { name: 'the success as a boolean', expected: 'accepted', change: set('success', true) },
  { name: 'no amount', expected: 'signature_malformed', change: set('amount', undefined) },
  { name: 'a reference that is an object', expected: 'signature_malformed', change: set('merchantReference', {}) },
  { name: 'the first item signed, the second not', expected: 'signature_missing', change: set('additionalData', {}) },
  {
    name: 'the second item with the signature of the first',
    expected: 'signature_mismatch',
    change: (s) => signature(() => (itemsOf(s.body)[0] as { additionalData: Item }).additionalData.hmacSignature)(s),
  },
  {
    name: 'the items exchanged',
    expected: 'accepted',
    change: body((bytes) => utf8(wrap(...itemsOf(bytes).reverse()))),
  },
  { name: 'one item left out', expected: 'accepted', change: body((bytes) => utf8(wrap(...itemsOf(bytes).slice(1)))) },
  { name: 'no items', expected: 'signature_missing', change: body(() => utf8(wrap())) },
  { name: 'an item that is null', expected: 'signature_missing', change: whole((text) => text.replace('[', '[null,')) },
  {
    name: 'an item in another wrapper',
    expected: 'signature_missing',
    change: whole((text) => text.replace('NotificationRequestItem', 'Notification')),
  },
  {
    name: 'more items than Adyen ever sends',
    expected: 'signature_malformed',
    change: body((bytes) => utf8(wrap(...Array<Item>(101).fill(itemsOf(bytes)[0] as Item)))),
    sdkDiffers: 'it looks at one item at a time',
  },
  { name: 'the signature empty', expected: 'signature_malformed', change: signature(() => '') },
  { name: 'the signature a number', expected: 'signature_malformed', change: signature(() => 7) },
  { name: 'the signature cut by a byte', expected: 'signature_malformed', change: signature((it) => it.slice(0, -4)) },
  {
    name: 'the signature in hex',
    expected: 'signature_malformed',
    change: signature((it) => Uint8Array.fromBase64(it).toHex()),
  },
  {
    name: 'the signature in upper case',
    expected: 'signature_mismatch',
    change: signature((it) => it.slice(0, 40).toUpperCase() + it.slice(40)),
  },
  {
    name: 'the signature in a header',
    expected: 'signature_missing',
    change: (s) => header('hmacsignature', 'x')(set('additionalData', {})(s)),
  },
  {
    name: 'the body serialized anew: fields are signed, not bytes',
    expected: 'accepted',
    change: whole((text) => JSON.stringify(JSON.parse(text), null, 2)),
  },
  { name: 'a line feed after the body', expected: 'accepted', change: whole((text) => `${text}\n`) },
  { name: 'an unsigned field changed', expected: 'accepted', change: set('reason', 'changed') },
  { name: 'a byte of the body gone', expected: 'signature_missing', change: whole((text) => text.slice(0, -1)) },
  {
    name: 'a byte order mark before the body',
    expected: 'signature_missing',
    change: whole((text) => `\ufeff${text}`),
  },
  {
    name: 'the body in UTF-16',
    expected: 'signature_missing',
    change: body((bytes) => new Uint8Array(Uint16Array.from(textOf(bytes), (c) => c.charCodeAt(0)).buffer)),
  },
  {
    name: 'a byte that is no UTF-8',
    expected: 'signature_missing',
    change: body((bytes) => bytes.map((byte) => (byte === 0xc3 ? 0xff : byte))),
  },
  { name: 'no body', expected: 'signature_missing', change: body(() => new Uint8Array()) },
  { name: 'the key in lower case: it is hex', expected: 'accepted', secrets: [fixture.secret.toLowerCase()] },
  { name: 'the key cut by a digit', expected: 'signature_mismatch', secrets: [fixture.secret.slice(0, -1)] },
  { name: 'another key', expected: 'signature_mismatch', secrets: [fixture.other] },
  { name: 'a key that is no hex', expected: 'signature_mismatch', secrets: ['not hexadecimal'] },
  { name: 'no live key', expected: 'signature_mismatch', secrets: [] },
  { name: 'an empty key', expected: 'signature_mismatch', secrets: [''] },
  { name: 'an hour late: no time is signed', expected: 'accepted', late: 3_600_000 },
]
mutations('adyen', fixture, cases)

describe('adyen', () => {
  rotation('adyen', fixture)

  it('refuses two items signed with two live keys: the same key must sign all', async () => {
    const sign = (it: Item, secret: string) =>
      itemsOf((fixture.sign(utf8(wrap(it)), secret, 0) as Signed).body)[0] as Item
    const mixed: Signed = {
      headers: new Headers(),
      body: utf8(wrap(sign(NotificationRequestItem, fixture.secret), sign(second, fixture.other))),
    }
    expect(await verify(fixture, mixed, now(), [fixture.secret, fixture.other])).toEqual({
      ok: false,
      cause: 'signature_mismatch',
    })
  })

  /** What Adyen signs of an item, as one text. */
  const signedText = (it: Item) => {
    const { value, currency } = it.amount as { value: unknown; currency: unknown }
    const { pspReference, originalReference, merchantAccountCode, merchantReference, eventCode, success } = it
    const fields = [pspReference, originalReference ?? '', merchantAccountCode, merchantReference]
    return [...fields, value, currency, eventCode, success].join(':')
  }

  // The merchant's reference is often what a shopper or another system chose.
  it.each(['a:b', '::', '1:EUR:CAPTURE:true', ':999999:EUR:AUTHORISATION:true', 'x:1130:EUR:AUTHORISATION:true:y'])(
    'refuses every other cut of a text that was signed, and takes the one that was: merchantReference %s',
    async (merchantReference) => {
      const item = { ...NotificationRequestItem, merchantReference }
      const signed = fixture.sign(utf8(wrap(item)), fixture.secret, 0) as Signed
      expect(await verify(fixture, signed, now(), [fixture.secret])).toEqual({ ok: true, secret: 0 })
      const [{ additionalData }] = itemsOf(signed.body) as [Item]
      const pieces = signedText(item).split(':')
      let cuts = 0
      // Every way to put seven cuts between the pieces.
      const cut = async (fields: string[], rest: string[]): Promise<void> => {
        if (fields.length === 7) {
          const [pspReference, originalReference, merchantAccountCode, reference, value, currency, eventCode] = fields
          const recut: Item = {
            ...{ pspReference, originalReference, merchantAccountCode, merchantReference: reference, eventCode },
            ...{ amount: { value, currency }, success: rest.join(':'), additionalData },
          }
          expect(signedText(recut)).toBe(signedText(item))
          const same = reference === merchantReference && success(recut) === success(item)
          const verdict = await verify(fixture, { ...signed, body: utf8(wrap(recut)) }, now(), [fixture.secret])
          expect([recut, verdict.ok]).toEqual([recut, same])
          cuts += 1
          return
        }
        for (let n = 1; n <= rest.length - (7 - fields.length); n++) {
          await cut([...fields, rest.slice(0, n).join(':')], rest.slice(n))
        }
      }
      const success = (it: Item) => `${it.pspReference} ${it.eventCode} ${it.success}`
      await cut([], pieces)
      expect(cuts).toBeGreaterThan(7)
    },
  )

  it('decodes each item, and distinguishes a success from the failure before it', () => {
    const { eventDate: _, ...rest } = NotificationRequestItem
    const [first, last] = adyen.decode(wrap(NotificationRequestItem, second), {})
    expect(first).toEqual({
      vendor_event_id: '7914073381342284:AUTHORISATION:true',
      event_type: 'AUTHORISATION',
      occurred_at: '2026-05-06T15:15:34.12Z',
      livemode: false,
      api_version: null,
      object: { type: null, id: '7914073381342284', status: 'success' },
      customer: 'shopper-1',
      subscription: null,
      invoice: null,
      amount: { value: 1130, currency: 'EUR' },
      refs: ['7914073381342284', 'Zoë-1'],
      state: null,
      content: { ...rest, additionalData: { shopperReference: 'shopper-1' } },
    })
    expect(last?.refs).toEqual(['8814073381342285', '7914073381342284', 'Zoë-1'])
    const failed = decodeOne(
      adyen,
      wrap({ ...NotificationRequestItem, success: 'false', amount: { value: 500, currency: 'JPY' } }),
    )
    expect(failed).toMatchObject({
      vendor_event_id: '7914073381342284:AUTHORISATION:false',
      object: { status: 'failure' },
      amount: { value: 500, currency: 'JPY' },
    })
    expect(
      decodeOne(adyen, { notificationItems: [{ NotificationRequestItem: { pspReference: 'a', eventCode: 'NEW' } }] }),
    ).toMatchObject({ vendor_event_id: 'a:NEW:', livemode: null, amount: null, occurred_at: null })
    for (const bad of [
      {},
      { notificationItems: [] },
      { notificationItems: [{}] },
      { notificationItems: [{ NotificationRequestItem: { eventCode: 'X' } }] },
    ]) {
      expect(() => adyen.decode(JSON.stringify(bad), {})).toThrow(Undecodable)
    }
  })

  it('tells the events of a dispute apart by their time, because they share its reference', () => {
    const chargeback = (disputeStatus: string, eventDate: string) =>
      decodeOne(
        adyen,
        wrap({
          ...NotificationRequestItem,
          eventCode: 'CHARGEBACK',
          eventDate,
          additionalData: { disputeStatus },
        }),
      ).vendor_event_id
    const undefended = chargeback('Undefended', '2026-05-06T17:15:34+02:00')
    expect(undefended).toBe('7914073381342284:CHARGEBACK:true:2026-05-06T15:15:34Z')
    expect(chargeback('Lost', '2026-06-06T17:15:34+02:00')).not.toBe(undefended)
    expect(chargeback('Undefended', '2026-05-06T17:15:34+02:00')).toBe(undefended)
    // A payment's duplicates may have other times.
    const later = decodeOne(adyen, wrap({ ...NotificationRequestItem, eventDate: '2026-05-07T00:00:00Z' }))
    expect(later.vendor_event_id).toBe('7914073381342284:AUTHORISATION:true')
  })

  it('checks the form of a key', () => {
    expect(adyen.checkSecret(fixture.secret)).toBeNull()
    for (const bad of ['', 'abc', 'zz'.repeat(32), fixture.secret.slice(1)])
      expect(adyen.checkSecret(bad)).toMatch(/hexadecimal/)
  })
})
