import type { StoredChange } from '../changes/schema'
import { typesNamed } from '../feed/types'
import type { Endpoint } from './work'

/** Which changes somebody gets. */
export type Gets = (change: StoredChange) => boolean

/**
 * Which changes an endpoint gets. A relay gets the outcomes of webhook events. Which of these events it sends is decided by what is
 * kept of them: see relayed.ts.
 */
export function getsOf({ types, relay }: Pick<Endpoint, 'types' | 'relay'>): Gets {
  if (relay) {
    return ({ type, repeat }) =>
      type.startsWith('webhook_event.') && (repeat === undefined || (repeat === 'replay' && relay.replays))
  }
  const named = new Set<string>(types.flatMap(typesNamed))
  return ({ type }) => named.has(type)
}
