import { BraintreeGateway, Environment, WebhookNotification } from 'braintree'
import { describe, expect, it } from 'vitest'
import { braintree } from '../../src/vendors/braintree'
import { Undecodable } from '../../src/vendors/vendor'
import {
  body,
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

const gateway = (secret: string) => {
  const [publicKey = '', privateKey = ''] = secret.split(':')
  return new BraintreeGateway({ environment: Environment.Sandbox, merchantId: 'merchant', publicKey, privateKey })
}
const formOf = (fields: Record<string, string>) => utf8(new URLSearchParams(fields).toString())
const encode = (xml: string) => `${utf8(xml).toBase64()}\n`
const decodeXml = (xml: string) => decodeOne(braintree, textOf(formOf({ bt_signature: 'x', bt_payload: encode(xml) })))

const fixture: Fixture = {
  vendor: braintree,
  secret: 'integration_public_key:integration_private_key',
  other: 'other_public_key:other_private_key',
  body: '', // the SDK makes its own
  // The SDK itself signs …
  sign: (_, secret) => ({
    headers: new Headers(),
    body: formOf(gateway(secret).webhookTesting.sampleNotification('subscription_went_past_due', 'sub_1')),
  }),
  // … and verifies.
  sdk: async ({ body: bytes }, secret) => {
    const form = new URLSearchParams(textOf(bytes))
    try {
      await gateway(secret).webhookNotification.parse(form.get('bt_signature') ?? '', form.get('bt_payload') ?? '')
      return true
    } catch {
      return false
    }
  },
}

const field = (name: string, change: (value: string) => string | null) =>
  body((bytes) => {
    const form = new URLSearchParams(textOf(bytes))
    const value = change(form.get(name) ?? '')
    if (value === null) form.delete(name)
    else form.set(name, value)
    return utf8(form.toString())
  })
const payload = (change: (value: string) => string | null) => field('bt_payload', change)
const signature = (change: (value: string) => string | null) => field('bt_signature', change)
const whole = (change: (text: string) => string) => body((bytes) => utf8(change(textOf(bytes))))

mutations('braintree', fixture, [
  { name: 'as signed', expected: 'accepted' },
  {
    name: 'a character of the payload changed',
    expected: 'signature_mismatch',
    change: payload((v) => (v[0] === 'P' ? 'Q' : 'P') + v.slice(1)),
  },
  { name: 'the payload cut', expected: 'signature_mismatch', change: payload((v) => v.slice(4)) },
  { name: 'the payload longer', expected: 'signature_mismatch', change: payload((v) => `AAAA${v}`) },
  { name: 'the line feed after the payload lost', expected: 'accepted', change: payload((v) => v.trimEnd()) },
  { name: 'a second line feed after the payload', expected: 'signature_mismatch', change: payload((v) => `${v}\n`) },
  { name: 'a line feed before the payload', expected: 'signature_mismatch', change: payload((v) => `\n${v}`) },
  { name: 'a space in the payload', expected: 'signature_malformed', change: payload((v) => ` ${v}`) },
  {
    name: 'the payload as XML, not in base64',
    expected: 'signature_malformed',
    change: payload((v) => atob(v.trim())),
  },
  {
    name: 'the payload in UTF-16',
    expected: 'signature_mismatch',
    change: payload((v) => encode(Array.from(atob(v.trim()), (c) => `${c}\0`).join(''))),
  },
  { name: 'no payload', expected: 'signature_malformed', change: payload(() => null) },
  { name: 'an empty payload', expected: 'signature_malformed', change: payload(() => '') },
  {
    name: 'two payloads',
    expected: 'signature_malformed',
    change: whole((text) => `${text}&bt_payload=AAAA`),
    sdkDiffers: 'it is handed one of them',
  },
  { name: 'no signature', expected: 'signature_missing', change: signature(() => null) },
  { name: 'an empty signature', expected: 'signature_missing', change: signature(() => '') },
  {
    name: 'two signatures',
    expected: 'signature_malformed',
    change: whole((text) => `${text}&bt_signature=a|b`),
    sdkDiffers: 'it is handed one of them',
  },
  {
    name: 'the signature without its public key',
    expected: 'signature_malformed',
    change: signature((v) => v.split('|')[1] ?? ''),
  },
  { name: 'the public key alone', expected: 'signature_malformed', change: signature((v) => v.split('|')[0] ?? '') },
  {
    name: 'under another public key',
    expected: 'signature_mismatch',
    change: signature((v) => v.replace('integration_public', 'other_public')),
  },
  {
    name: 'the public key in upper case',
    expected: 'signature_mismatch',
    change: signature((v) => v.replace('integration', 'INTEGRATION')),
  },
  {
    name: 'the first digit of the MAC changed',
    expected: 'signature_mismatch',
    change: signature((v) => v.replace(/\|(.)/, (_, c) => `|${c === '0' ? '1' : '0'}`)),
  },
  { name: 'the MAC cut by a byte', expected: 'signature_malformed', change: signature((v) => v.slice(0, -2)) },
  {
    name: 'the MAC in upper case',
    expected: 'accepted',
    change: signature((v) => v.replace(/\|.*/, (it) => it.toUpperCase())),
    sdkDiffers: 'it compares texts, not bytes',
  },
  {
    name: 'the MAC in base64',
    expected: 'signature_malformed',
    change: signature((v) => v.replace(/\|(.*)/, (_, it) => `|${Uint8Array.fromHex(it).toBase64()}`)),
  },
  {
    name: 'a pair of another key first',
    expected: 'accepted',
    change: signature((v) => `other|${'0'.repeat(40)}&${v}`),
  },
  {
    name: 'a pair of another key last',
    expected: 'accepted',
    change: signature((v) => `${v}&other|${'0'.repeat(40)}`),
  },
  {
    name: 'the signature in a header',
    expected: 'signature_missing',
    change: (s) => header('bt-signature', 'x')(signature(() => null)(s)),
  },
  { name: 'the fields exchanged', expected: 'accepted', change: whole((text) => text.split('&').reverse().join('&')) },
  { name: 'a field beside them', expected: 'accepted', change: whole((text) => `${text}&x=1`) },
  {
    name: 'JSON in place of the form',
    expected: 'signature_missing',
    change: whole((text) => JSON.stringify(Object.fromEntries(new URLSearchParams(text)))),
  },
  {
    name: 'the whole body in UTF-16',
    expected: 'signature_missing',
    change: body((bytes) => new Uint8Array(Uint16Array.from(textOf(bytes), (c) => c.charCodeAt(0)).buffer)),
  },
  {
    name: 'a byte that is no UTF-8',
    expected: 'signature_missing',
    change: body((bytes) => Uint8Array.of(...bytes, 0xff)),
  },
  { name: 'no body', expected: 'signature_missing', change: body(() => new Uint8Array()) },
  {
    name: 'another private key',
    expected: 'signature_mismatch',
    secrets: ['integration_public_key:other_private_key'],
  },
  { name: 'another pair of keys', expected: 'signature_mismatch', secrets: [fixture.other] },
  { name: 'no live secret', expected: 'signature_mismatch', secrets: [] },
  { name: 'an empty secret', expected: 'signature_mismatch', secrets: [''] },
  { name: 'no private key', expected: 'signature_mismatch', secrets: ['integration_public_key:'] },
  { name: 'the private key alone', expected: 'signature_mismatch', secrets: ['integration_private_key'] },
  { name: 'an hour late: no time is signed', expected: 'accepted', late: 3_600_000 },
])

describe('braintree', () => {
  rotation('braintree', fixture)

  it.each(Object.values(WebhookNotification.Kind))('reads the SDK’s sample of %s as the SDK does', async (kind) => {
    const sample = gateway(fixture.secret).webhookTesting.sampleNotification(kind, 'id_1')
    const signed: Signed = { headers: new Headers(), body: formOf(sample) }
    expect(await verify(fixture, signed, now())).toEqual({ ok: true, secret: 0 })
    const parsed = await gateway(fixture.secret).webhookNotification.parse(sample.bt_signature, sample.bt_payload)
    const event = decodeOne(braintree, textOf(signed.body))
    expect(event).toMatchObject({
      vendor_event_id: null,
      event_type: parsed.kind,
      occurred_at: parsed.timestamp,
      state: kind.startsWith('subscription_') ? 'subscription' : null,
      content: kind.startsWith('subscription_') ? expect.objectContaining({ kind }) : null,
    })
    expect(event.object.type).toMatch(/^[a-z_]+$/)
    if (event.object.id !== null) expect(event.refs[0]).toBe(event.object.id)
  })

  const notification = (subject: string, kind = 'subscription_charged_successfully') =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<!-- sent -->\n<notification>\n<timestamp type="datetime">2026-01-02T03:04:05Z</timestamp><kind>${kind}</kind><subject>${subject}</subject></notification>\n`

  it('decodes a transaction with its amount in minor units', () => {
    expect(
      decodeXml(
        notification(
          '<transaction><id>tx_1</id><status>settled</status><amount>100.5</amount><currency-iso-code>USD</currency-iso-code><customer><id>cu_1</id></customer><subscription-id>su_1</subscription-id><note>a &amp;amp; &#65; b</note><empty nil="true"/></transaction>',
          'transaction_settled',
        ),
      ),
    ).toEqual({
      vendor_event_id: null,
      event_type: 'transaction_settled',
      occurred_at: '2026-01-02T03:04:05Z',
      livemode: null,
      api_version: null,
      object: { type: 'transaction', id: 'tx_1', status: 'settled' },
      customer: 'cu_1',
      subscription: 'su_1',
      invoice: null,
      amount: { value: 10050, currency: 'USD' },
      refs: ['tx_1', 'cu_1', 'su_1'],
      state: null,
      content: null,
    })
    const amount = (value: string, currency: string) =>
      decodeXml(
        notification(`<dispute><amount>${value}</amount><currency-iso-code>${currency}</currency-iso-code></dispute>`),
      ).amount
    expect(amount('500', 'JPY')).toEqual({ value: 500, currency: 'JPY' })
    expect(amount('1.234', 'KWD')).toEqual({ value: 1234, currency: 'KWD' })
    expect(amount('1.234', 'USD')).toBeNull()
  })

  it('decodes a subscription with its transactions, a token, an error’s subject, a check', () => {
    expect(
      decodeXml(
        notification(
          '<subscription><id>su_1</id><price>9.99</price><transactions type="array"><transaction><id>tx_1</id></transaction><transaction><id>tx_2</id></transaction></transactions></subscription>',
        ),
      ),
    ).toMatchObject({ subscription: 'su_1', amount: null, refs: ['su_1', 'tx_1', 'tx_2'] })
    expect(
      decodeXml(notification('<paypal-account><token>tk_1</token><customer-id>cu_1</customer-id></paypal-account>')),
    ).toMatchObject({ object: { type: 'paypal_account', id: 'tk_1' }, customer: 'cu_1' })
    expect(
      decodeXml(notification('<api-error-response><transaction><id>tx_1</id></transaction></api-error-response>'))
        .object.id,
    ).toBe('tx_1')
    expect(decodeXml(notification('<check type="boolean">true</check>', 'check'))).toMatchObject({
      event_type: 'check',
      object: { type: 'check', id: null },
      refs: [],
    })
  })

  it.each([
    ['text that is not XML', 'hello'],
    ['no notification', '<other><kind>x</kind></other>'],
    ['no kind', '<notification></notification>'],
    ['an unclosed element', '<notification><kind>x</kind>'],
    ['crossed elements', '<notification><kind>x</notification></kind>'],
    ['two roots', '<notification><kind>x</kind></notification><a/>'],
    ['text after the root', '<notification><kind>x</kind></notification>x'],
    ['a closing tag too many', '<notification><kind>x</kind></notification></notification>'],
    ['a document type', '<!DOCTYPE n [<!ENTITY e "x">]><notification><kind>&e;</kind></notification>'],
    ['CDATA', '<notification><kind><![CDATA[x]]></kind></notification>'],
    ['a lone <', '<notification><kind>a < b</kind></notification>'],
    ['an attribute on a closing tag', '<notification><kind>x</kind a="b"></notification>'],
    ['too deep', `${'<a>'.repeat(5000)}${'</a>'.repeat(5000)}`],
    ['empty', ''],
  ])('refuses %s', (_, xml) => {
    expect(() => decodeXml(xml)).toThrow(Undecodable)
  })

  it('expands no entities', () => {
    const { event_type } = decodeXml(notification('<check/>', '&e;&amp;lt;&#x3c;'))
    expect(event_type).toBe('&e;&lt;&#x3c;')
  })

  it('refuses a form without its payload, and a payload that is not base64', () => {
    for (const form of ['', 'bt_payload=', 'bt_payload=A', 'bt_payload=AAAA&bt_payload=AAAA', '{"bt_payload":"AAAA"}'])
      expect(() => braintree.decode(form, {})).toThrow(Undecodable)
  })

  it('checks the form of a pair of keys', () => {
    expect(braintree.checkSecret(fixture.secret)).toBeNull()
    for (const bad of ['', 'a', 'a:', ':b', 'a b:c'])
      expect(braintree.checkSecret(bad)).toMatch(/public_key:private_key/)
  })
})
