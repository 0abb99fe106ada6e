import { changeId, presentChange } from '../feed/fields'
import { iso } from '../lib/time'
import type { Item } from './items'
import type { Payload } from './relayed'
import type { Endpoint } from './work'

/**
 * Something as it is sent. `number`: of its change, or 0. `body`: null if it is not there any more. `headers`: those that it has besides
 * ours, in lower case.
 */
export type Message = {
  id: string
  number: number
  type: string
  body: string | Uint8Array<ArrayBuffer> | null
  headers?: Record<string, string>
}

/** @param current the object of the change as it is now, if it is to be sent */
export function messageOf(
  { epoch, position }: Pick<Endpoint, 'epoch' | 'position'>,
  item: Item,
  current: unknown,
): Message {
  if (item.kind === 'gap') {
    const [after, until] = [changeId({ epoch, number: position }), changeId(item.until)]
    const type = 'feed.gap'
    const body = JSON.stringify({ type, timestamp: iso(item.at), data: { after, until } })
    return { id: `gap_${after.slice(4)}_${until.slice(4)}`, number: 0, type, body }
  }
  const data = presentChange(item.change, epoch)
  const whole = current === undefined ? data : { ...data, current }
  const body = JSON.stringify({ type: data.type, timestamp: data.at, data: whole })
  return { id: data.id, number: data.number, type: data.type, body }
}

/** An event as its vendor sent it, under the event's id. */
export function relayedMessage({ change }: Exclude<Item, { kind: 'gap' }>, payload: Payload | undefined): Message {
  const { id, number, type, repeat } = change
  if (!payload?.bytes) return { id, number, type, body: null }
  const sent = Object.entries(payload.headers).map(([name, value]) => [sentName(name), value] as const)
  const headers = {
    ...Object.fromEntries(sent.filter(([name]) => name !== null)),
    'webhook-connection': payload.connection_id,
    ...(repeat === 'replay' && { 'webhook-replay': 'true' }),
  }
  return { id, number, type, body: payload.bytes, headers }
}

/** Names that are ours or HTTP's own: they would say something else of our request than of the vendor's. */
const TAKEN =
  /^(webhook-.*|content-(?!type$).*|accept.*|authorization|cdn-.*|cf-.*|connection|cookie|date|expect|forwarded|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|via|x-forwarded-.*|x-real-ip)$/

/** The name under which a kept header is sent; null for what is kept beside headers. */
function sentName(name: string): string | null {
  if (name.startsWith(':')) return null
  return TAKEN.test(name) ? `vendor-${name}` : name
}
