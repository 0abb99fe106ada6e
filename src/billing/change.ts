import type { Kind } from '../lib/billing-kinds'
import { utf8 } from '../lib/crypto'
import { PERSONAL, SIGNED_LINKS } from '../vendors/objects'
import { shown } from './body'
import type { Effect } from './effect'
import { MAX_CHANGE_BYTES } from './limits'
import { cardOf } from './read/card'
import type { StoredBody } from './reduce'

/**
 * The fields of an object that an event changed; null if it changed none. A field that was missing and is now null does
 * not differ, nor does a link that only has a new signature. Values that do not fit into {@link MAX_CHANGE_BYTES} are left
 * out: they are in the payload. Those that are about a person are left out too, so that only the object's row has them.
 *
 * @param before null for an object that was not known
 */
export function changeOf(kind: Kind, before: StoredBody | null, after: StoredBody | null): Effect['change'] {
  const change: NonNullable<Effect['change']> = {}
  const was = fieldsOf(kind, before)
  let room = MAX_CHANGE_BYTES
  for (const [field, to] of Object.entries(fieldsOf(kind, after))) {
    const from = was[field] ?? null
    if (JSON.stringify(from) === JSON.stringify(to ?? null)) continue
    if (SIGNED_LINKS.has(field) && from !== null && to !== null) continue
    if (PERSONAL.has(field)) {
      change[field] = { from: null, to: null, personal: true }
      continue
    }
    const bytes = utf8(JSON.stringify([from, to])).byteLength
    const fits = bytes <= room
    if (fits) room -= bytes
    change[field] = fits ? { from, to } : { from: null, to: null, too_large: true }
  }
  return Object.keys(change).length > 0 ? change : null
}

/** The fields of a body as the API shows them: a payment card is the `card` of its payment method. */
function fieldsOf(kind: Kind, body: StoredBody | null): Record<string, unknown> {
  if (body === null) return {}
  return kind === 'payment_card' ? { card: cardOf(body) } : shown(kind, body)
}
