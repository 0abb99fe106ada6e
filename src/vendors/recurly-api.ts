import type { ApiRead, VendorApi } from './api'
import type { ApiPattern, ObjectsCall, ThinObject } from './calls'
import { at, flag, type Json, objects, text } from './lib/json'
import { isPathId } from './lib/read'
import { isoTime } from './lib/time'
import { REFRESHED_INVOICES, REFRESHED_SUBSCRIPTIONS } from './limits'

/** What marks a key of a site in Recurly's data center in the EU, which has an API of its own. */
const EU = 'eu:'

/** The types of objects that become state, as events call them, and their paths. Credit invoices are money back: they are left out. */
const OBJECTS = {
  subscription: { kind: 'subscription', pattern: '/subscriptions/{id}' },
  charge_invoice: { kind: 'invoice', pattern: '/invoices/{id}' },
} as const satisfies Record<string, { kind: 'subscription' | 'invoice'; pattern: ApiPattern }>
type Named = (typeof OBJECTS)[keyof typeof OBJECTS]

const namedAs = (type: string | null): Named | undefined =>
  type !== null && Object.hasOwn(OBJECTS, type) ? OBJECTS[type as keyof typeof OBJECTS] : undefined

/** Whether an object that the API sends is one of this kind. It calls every invoice `invoice`. */
const isOfKind = (kind: string) => (body: Json) => body.object === kind && text(body.id) !== null

const only =
  (kind: string): ObjectsCall['objects'] =>
  (body) => ({ objects: isOfKind(kind)(body) ? [body] : [], more: false })

/** A page. https://recurly.com/developers/api/v2021-02-25/#section/Getting-Started/Pagination */
const list = (kind: string) => (body: Json) => ({
  objects: objects(body.data).filter(isOfKind(kind)),
  more: flag(body.has_more) ?? false,
})

/** The object that an event names. */
export function namedByRecurly(event: Json): ThinObject | null {
  const found = namedAs(text(event.object_type))
  const id = text(event.id)
  if (!found || event.data !== undefined || !isPathId(id)) return null
  return { id, call: { ...found, ids: { id }, objects: only(found.kind) } }
}

/**
 * Recurly's API. The key is the user of Basic authentication, without a password, and every request names the version. A site has one
 * mode, and a key does not say which. Recurly documents no key that only reads, nor a way to ask what a key can do.
 *
 * - https://docs.recurly.com/docs/api-keys
 * - https://docs.recurly.com/recurly-subscriptions/v2021-02-25/reference/getting-started-v2021-02-25
 * - the types of errors: ErrorTypeEnum in https://github.com/recurly/recurly-client-ruby/blob/v3-v2021-02-25/openapi/api.yaml
 */
export const recurlyApi: VendorApi = {
  vendor: 'Recurly',
  origin: (key) => (key.startsWith(EU) ? 'https://v3.eu.recurly.com' : 'https://v3.recurly.com'),
  headers: (key) => ({
    Authorization: `Basic ${btoa(`${key.startsWith(EU) ? key.slice(EU.length) : key}:`)}`,
    Accept: 'application/vnd.recurly.v2021-02-25',
  }),

  checkKey: (key) =>
    /^(eu:)?[A-Za-z0-9]{16,100}$/.test(key)
      ? null
      : {
          problem: 'malformed',
          why: 'An API key of Recurly has letters and digits only. Write eu: before the key of a site in the EU data center.',
        },
  livemodeOf: () => null,

  calls: {
    ofCustomer: (id) => [
      {
        kind: 'subscription',
        pattern: '/accounts/code-{id}/subscriptions',
        ids: { id },
        query: { limit: String(REFRESHED_SUBSCRIPTIONS) },
        objects: list('subscription'),
      },
      // The newest first.
      {
        kind: 'invoice',
        pattern: '/accounts/code-{id}/invoices',
        ids: { id },
        query: { type: 'charge', limit: String(REFRESHED_INVOICES) },
        objects: (body) => ({ ...list('invoice')(body), more: false }),
      },
    ],
    ofCheckout: () => null,
    ofObject: (kind, id) => {
      const found = Object.values(OBJECTS).find((one) => one.kind === kind)
      return found && isPathId(id) ? { ...found, ids: { id }, objects: only(kind) } : null
    },
    ofEvent: namedByRecurly,
    customerIn: ({ account }) => text(at(account, 'code')),
    rest: () => [], // An invoice has up to 500 lines, and says if it has more.
    createdAt: ({ created_at }) => isoTime(created_at),
    versionOf: ({ updated_at }) => isoTime(updated_at),
    headers: () => ({}),
  },
  thin: { names: Object.keys(OBJECTS).map((type) => `${type}.*`), objects: Object.keys(OBJECTS), all: true },
  reads: [read('subscriptions', 'Subscriptions', '/subscriptions'), read('invoices', 'Invoices', '/invoices')],
  // Subscriptions and invoices are never deleted.
  sightOf({ object: { type, id } }) {
    const found = namedAs(type)
    return found && id !== null ? { pattern: found.pattern, id } : null
  },

  errorCode: ({ error }) => text(at(error, 'type')),
  isKeyRefused: (status) => status === 401,
}

function read(kind: string, permission: string, pattern: ApiPattern): ApiRead {
  return { kind, permission, probe: { pattern, query: { limit: '1' } } }
}
