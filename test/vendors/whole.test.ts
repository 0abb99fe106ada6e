import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shownBody, stored } from '../../src/billing/body'
import { placedParts } from '../../src/billing/purchases/place'
import { VENDORS } from '../../src/vendors'
import { MAX_OBJECT_BYTES, MAX_OBJECTS_OF_EVENT } from '../../src/vendors/limits'
import { BODIES } from '../../src/vendors/objects'
import { Undecodable, type Vendor } from '../../src/vendors/vendor'
import {
  GOCARDLESS_CUSTOMER,
  gocardlessPayment,
  gocardlessSubscription,
  revenuecatSubscription,
} from '../billing/payloads-fetched'
import { chargebeeCustomer, chargebeeEvent, chargebeeSubscription } from '../billing/payloads-more'
import { TABLES } from '../billing/vendor-tables'
import { cases, inTurn } from '../harness'
import { appleBody, form, HEADERS } from './samples'

/* Events whose fields are missing or of other types: what is read of them has its form, and nothing else is thrown. */

const KEYS = ['consumer_external_id', 'constructor', '__proto__']

/** What a part alone makes of a purchase; null if it is no sale. */
function boughtBy(part: string, said: Parameters<typeof stored>[0]) {
  const event = { vendor_event_id: 'evt_1', event_id: 'evt_1', before: null, after: '' }
  const candidate = { part, rank: '0|0|0|1', ...event, body: stored(said) }
  const [row] = placedParts([{ candidates: [], ambiguous: false }], [candidate])
  const body = row?.candidates[0]?.body ?? null
  return body && shownBody('purchase', body)
}

/** Reads all that an event says. @returns whether it could be read */
function readAll(vendor: Vendor, text: string, headers: Record<string, string> = HEADERS): boolean {
  try {
    const [decoded] = vendor.decode(text, headers)
    if (!decoded?.content) {
      expect(decoded?.state).toBeNull()
      return true
    }
    const snapshots = vendor.snapshots?.(decoded.content, decoded) ?? []
    for (const { kind, id, body: said, version, terminal, ...rest } of snapshots) {
      if (kind === 'payment_card') throw new Error('these vendors tell of no card by itself')
      const body = 'part' in rest ? boughtBy(rest.part, said) : said
      if (body === null) continue // money back, of a sale that is not known
      const schema = BODIES[kind]
      expect(schema.safeParse(body).error, `${kind} of ${text}`).toBeUndefined()
      expect(Object.keys(body).sort()).toEqual(Object.keys(schema.shape).sort())
      expect(JSON.stringify(body).length).toBeLessThanOrEqual(MAX_OBJECT_BYTES)
      expect(version !== null && terminal).toBe(false)
      expect(vendor.object?.(text, { kind, id })).not.toBeNull()
    }
    expect(snapshots.length > 0).toBe(decoded.state !== null)
    for (const claim of vendor.claims?.(decoded.content, KEYS) ?? []) {
      expect([typeof claim.customer, typeof claim.external_id]).toEqual(['string', 'string'])
    }
    return true
  } catch (error) {
    if (error instanceof Undecodable) return false
    throw error
  }
}

/** Paths to every value within a payload. */
function paths(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, inner]) => paths(inner, [...path, key]))]
}
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>
  copy[key] = replaced(copy[key], rest, by)
  return copy
}

const customer = 'CU0001'
/** What is read of an object that was fetched, where events only name it. */
const FETCHED = [
  ['revenuecat', 'subscription', revenuecatSubscription(0, { app_user_id: 'user_1' })],
  ['gocardless', 'subscription', gocardlessSubscription(0, { customer, status: 'finished', count: 12 })],
  ['gocardless', 'invoice', gocardlessPayment({ customer })],
  ['gocardless', 'customer', GOCARDLESS_CUSTOMER],
] as const
const READ = FETCHED.map(([name, kind, object]) => {
  const payload = (VENDORS[name] as Vendor).asEvent?.('ftc_1', { kind, object, at: '2026-01-01T00:00:00Z' })
  return [name, [[`a fetched ${kind}`, payload]]] as const
})

const ODD = [null, '', 'x', '__proto__', -1, 1.5, 1e300, true, [], [null], {}, { id: 1 }, 'x'.repeat(5000)]

describe.each([...TABLES, ...READ])('%s', (name, lines) => {
  const vendor: Vendor = VENDORS[name]
  // What Shopify's events are about is in a header.
  const events = lines.map(([, payload]) => {
    if (name !== 'shopify') return { payload, headers: HEADERS }
    const { headers, body } = payload as { headers: Record<string, string>; body: unknown }
    return { payload: body, headers: { ...HEADERS, ...headers } }
  })
  const textOf = (payload: unknown) =>
    name === 'braintree'
      ? form((payload as { xml: string }).xml)
      : name === 'apple'
        ? appleBody(payload)
        : JSON.stringify(payload)

  it('reads every event of its table', () => {
    for (const { payload, headers } of events) expect(readAll(vendor, textOf(payload), headers)).toBe(true)
  })

  it.skipIf(name === 'braintree')('reads each field with an odd value', () => {
    for (const { payload, headers } of events)
      for (const [nth, path] of paths(payload).entries())
        for (const odd of inTurn(ODD, nth)) readAll(vendor, textOf(replaced(payload, path, odd)), headers)
  })

  it('throws nothing but Undecodable, for any change (fast-check)', () => {
    const changed =
      name === 'braintree'
        ? fc
            .tuple(fc.constantFrom(...events), fc.nat(), fc.string(), fc.nat(60))
            .map(([{ payload, headers }, at, text, cut]) => {
              const { xml } = payload as { xml: string }
              const place = at % xml.length
              return { text: form(xml.slice(0, place) + text + xml.slice(place + cut)), headers }
            })
        : fc
            .constantFrom(...events)
            .chain(({ payload, headers }) =>
              fc
                .tuple(fc.constantFrom(...paths(payload)), fc.jsonValue())
                .map(([path, value]) => ({ text: textOf(replaced(payload, path, value)) ?? '', headers })),
            )
    fc.assert(
      fc.property(changed, ({ text, headers }) => {
        readAll(vendor, text, headers)
      }),
      { numRuns: cases(500) },
    )
  })
})

it('a customer of Chargebee with more subscriptions than are kept is deleted with the first ones', () => {
  const subscriptions = Array.from({ length: 80 }, (_, n) => chargebeeSubscription({ id: `s${n}`, deleted: true }))
  const event = chargebeeEvent('customer_deleted', { customer: chargebeeCustomer({ deleted: true }), subscriptions })
  const snapshots = VENDORS.chargebee.snapshots?.(event) ?? []
  expect([snapshots.length, snapshots[0]?.kind]).toEqual([MAX_OBJECTS_OF_EVENT, 'customer'])
})

it('an object of Chargebee whose id cannot be one is not left out: its event fails', () => {
  const event = chargebeeEvent('subscription_deleted', { subscription: chargebeeSubscription({ id: 'two words' }) })
  expect((VENDORS.chargebee.snapshots?.(event) ?? []).map(({ id }) => id)).toEqual(['two words'])
})
