import { fromHex } from '../lib/crypto'
import { isObject, type Json, text } from './lib/json'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoTime } from './lib/time'
import { checkPlain, verifyBareMac } from './lib/verify'
import { type DecodedEvent, Undecodable, type Vendor } from './vendor'

const SIGNATURE = 'webhook-signature'

/**
 * GoCardless. `Webhook-Signature`: HMAC-SHA256 of the body, hex. A delivery has up to 250 events. They are thin:
 * the ids of what an event is about, no object and no amount. No time is signed.
 * https://developer.gocardless.com/api-reference/#webhooks-overview
 */
export const gocardless: Vendor = {
  signatureHeaders: [SIGNATURE],
  keptHeaders: [],
  checkSecret: checkPlain('a GoCardless webhook endpoint secret'),
  verify: ({ headers, bytes }, secrets) => verifyBareMac(headers.get(SIGNATURE), fromHex, secrets, bytes),

  decode(body) {
    const { events } = parseObject(body)
    if (!Array.isArray(events) || events.length === 0) throw new Undecodable('the payload has no events')
    return events.map(decodeEvent)
  },
}

function decodeEvent(event: unknown): DecodedEvent {
  if (!isObject(event)) throw new Undecodable('an event of the payload is not a JSON object')
  const type = required(event.resource_type, 'resource_type')
  const links: Json = isObject(event.links) ? event.links : {}
  // The event's own object is the link named like its resource type, in the singular: "payments" → "payment".
  const id = link(links, type.replace(/s$/, ''))
  const customer = link(links, 'customer')
  const subscription = link(links, 'subscription')
  const others = Object.keys(links).filter((name) => name !== 'parent_event' && name !== 'organisation')
  return eventOf({
    vendor_event_id: required(event.id, 'id'),
    event_type: `${type}.${required(event.action, 'action')}`,
    occurred_at: isoTime(event.created_at),
    object: { type, id, status: null },
    customer,
    subscription,
    refs: distinctIds(id, customer, subscription, ...others.map((name) => link(links, name))),
    content: event,
  })
}

function link(links: Json, name: string): string | null {
  return Object.hasOwn(links, name) ? text(links[name]) : null
}
