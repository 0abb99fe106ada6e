import { fromHex } from '../lib/crypto'
import { gocardlessApi, kindOfType, typeOfKind } from './gocardless-api'
import { gocardlessClaims, gocardlessSnapshot } from './gocardless-objects'
import { isObject, type Json, text } from './lib/json'
import { distinctIds, eventOf, parseObject, required } from './lib/read'
import { isoTime } from './lib/time'
import { checkPlain, verifyBareMac } from './lib/verify'
import { ITEM_KEYS } from './purchase-parts'
import { type DecodedEvent, Undecodable, type Vendor } from './vendor'

const SIGNATURE = 'webhook-signature'

/**
 * GoCardless. `Webhook-Signature`: HMAC-SHA256 of the body, hex. A delivery has up to 250 events. They are thin:
 * the ids of what an event is about, no object and no amount. No time is signed. What was fetched is in `data`, which no delivery has.
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

  snapshots: ({ resource_type, data, created_at }, _, itemKeys = ITEM_KEYS) =>
    isObject(data) ? gocardlessSnapshot(String(resource_type), data, isoTime(created_at), itemKeys) : [],

  asEvent: (id, { kind, object, at }) => {
    const type = typeOfKind(kind) ?? kind
    const links = { ...(isObject(object.links) && object.links), customer: object.customer, [nameOf(type)]: object.id }
    return { events: [{ id, created_at: at, resource_type: type, action: 'fetched', links, data: object }] }
  },

  claims: gocardlessClaims,
  api: gocardlessApi,
}

/** What a link to an object of a type is called: "payments" → "payment". */
const nameOf = (type: string) => type.replace(/s$/, '')

function decodeEvent(event: unknown): DecodedEvent {
  if (!isObject(event)) throw new Undecodable('an event of the payload is not a JSON object')
  const type = required(event.resource_type, 'resource_type')
  const links: Json = isObject(event.links) ? event.links : {}
  const id = link(links, nameOf(type))
  const data = isObject(event.data) ? event.data : null
  const customer = link(links, 'customer')
  const subscription = link(links, 'subscription')
  const others = Object.keys(links).filter((name) => name !== 'parent_event' && name !== 'organisation')
  return eventOf({
    vendor_event_id: required(event.id, 'id'),
    event_type: `${type}.${required(event.action, 'action')}`,
    occurred_at: isoTime(event.created_at),
    object: { type, id, status: data && text(data.status) },
    state: data && kindOfType(type),
    customer,
    subscription,
    refs: distinctIds(id, customer, subscription, ...others.map((name) => link(links, name))),
    content: event,
  })
}

function link(links: Json, name: string): string | null {
  return Object.hasOwn(links, name) ? text(links[name]) : null
}
