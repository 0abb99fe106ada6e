import type { Kind } from '../lib/billing-kinds'
import { utf8 } from '../lib/crypto'
import { PERSONAL, SIGNED_LINKS } from '../vendors/objects'
import { mayTell, shownBody } from './body'
import type { Effect } from './effect'
import { MAX_CHANGE_BYTES } from './limits'
import { cardOf } from './read/card'
import type { StoredBody } from './reduce'

/**
 * The fields of an object that an event changed; null if it changed none. These are no change: a field that was missing
 * and is now null, a link that only has a new signature, and a field that the stored object was too old to have.
 *
 * The values of personal fields are left out, so that only the object's row has them. The other values take at most
 * {@link MAX_CHANGE_BYTES}, the smallest first: a status, an amount or a time is not left out because a list is long.
 * Values that are left out are in the payload.
 *
 * @param before null for an object that was not known
 */
export function objectChange(kind: Kind, before: StoredBody | null, after: StoredBody | null): Effect['change'] {
  const was = fieldsOf(kind, before)
  const changed = Object.entries(fieldsOf(kind, after)).flatMap(([field, to]) => {
    const from = was[field] ?? null
    if (JSON.stringify(from) === JSON.stringify(to ?? null)) return []
    if (SIGNED_LINKS.has(field) && from !== null && to !== null) return []
    if (before !== null && !mayTell(kind, before, field, to)) return []
    const bytes = PERSONAL.has(field) ? 0 : utf8(JSON.stringify([from, to])).byteLength
    return [{ field, from, to, bytes }]
  })
  if (changed.length === 0) return null
  let room = MAX_CHANGE_BYTES
  const tooLarge = changed
    .toSorted((a, b) => a.bytes - b.bytes)
    .filter(({ bytes }) => {
      room -= bytes
      return room < 0
    })
  return Object.fromEntries(
    changed.map((one) => {
      const { field, from, to } = one
      if (PERSONAL.has(field)) return [field, { from: null, to: null, personal: true as const }]
      if (tooLarge.includes(one)) return [field, { from: null, to: null, too_large: true as const }]
      return [field, { from, to }]
    }),
  )
}

/** The names of the fields that look different, links that were only signed again among them. */
export function changedFields(kind: Kind, before: StoredBody | null, after: StoredBody | null): string[] {
  const was = fieldsOf(kind, before)
  const is = fieldsOf(kind, after)
  const names = Object.keys({ ...was, ...is })
  return names.filter((name) => JSON.stringify(was[name] ?? null) !== JSON.stringify(is[name] ?? null))
}

/** The fields of a body as the API shows them: a payment card is the `card` of its payment method. */
function fieldsOf(kind: Kind, body: StoredBody | null): Record<string, unknown> {
  if (body === null) return {}
  return kind === 'payment_card' ? { card: cardOf(body) } : shownBody(kind, body)
}
