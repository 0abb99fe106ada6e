import { one, type ThinEvents, type ThinObject } from './calls'
import type { NamedKind } from './kinds'
import { at, type Json, text } from './lib/json'
import { isPathId } from './lib/read'

/** What the newer API calls its events. They are thin: they name an object but do not contain it. */
export const THIN = 'v2.core.event'

/** The types of objects that become state, or say which consumer a customer is, and their paths. Events with many names point to each. */
const OBJECTS: Readonly<Record<string, { kind: NamedKind; pattern: `/v1/${string}` }>> = {
  customer: { kind: 'customer', pattern: '/v1/customers/{id}' },
  subscription: { kind: 'subscription', pattern: '/v1/subscriptions/{id}' },
  invoice: { kind: 'invoice', pattern: '/v1/invoices/{id}' },
  payment_method: { kind: 'payment_method', pattern: '/v1/payment_methods/{id}' },
  'checkout.session': { kind: 'checkout', pattern: '/v1/checkout/sessions/{id}' },
}
export const PATH_OF = Object.fromEntries(Object.values(OBJECTS).map(({ kind, pattern }) => [kind, pattern])) as Record<
  NamedKind,
  `/v1/${string}`
>

/** The names begin with the version of the API that the object is of. */
export const stripeThin: ThinEvents = { names: ['v[0-9]*.*'], objects: Object.keys(OBJECTS) }

/** Accounts, from the platform's to the one that the object is in: `acct_1/acct_2`. */
const CONTEXT = /^[\w/-]{1,300}$/

/**
 * The object that a thin event names. Its `url` is not used: no request goes to an address from a payload.
 * https://docs.stripe.com/event-destinations#thin-events
 */
export function namedByStripe(event: Json): ThinObject | null {
  if (event.object !== THIN) return null
  const found = OBJECTS[text(at(event, 'related_object', 'type')) ?? '']
  const id = text(at(event, 'related_object', 'id'))
  const eventId = text(event.id)
  const context = text(event.context)
  if (!found || !isPathId(id) || eventId === null) return null
  if (context !== null && !CONTEXT.test(context)) return null
  const headers = context === null ? undefined : { 'Stripe-Context': context }
  const inContext = headers && { headers }
  return {
    id,
    call: { ...found, ids: { id }, ...inContext, objects: one },
    event: {
      call: { pattern: '/v2/core/events/{id}', ids: { id: eventId }, ...inContext },
      full: (body) => {
        const snapshot = text(body.snapshot_event)
        return isPathId(snapshot) ? { pattern: '/v1/events/{id}', ids: { id: snapshot }, ...inContext } : null
      },
    },
    // Only drafts can be deleted, and the API then no longer has them. Other kinds leave a trace, or are gone for other reasons.
    gone: (customer) =>
      found.kind === 'invoice' && text(event.type)?.endsWith('.deleted')
        ? { id, object: 'invoice', deleted: true, customer }
        : null,
  }
}
