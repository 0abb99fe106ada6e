import { batch, type Db, type Results } from '../../../db/client'
import { MAX_VENDOR_ID_LENGTH } from '../../../inbox/search/limits'
import { lookUp } from '../../../inbox/search/look-up'

/** What a text in the search box stands for: one event, or a filter. */
export type Named = { event: string } | { filter: string; value: string }

/**
 * Finds out what a text in the search box stands for, in one round trip.
 *
 * @returns null if it matches nothing in the project
 */
export async function namedBy(db: Db, project: string, text: string): Promise<Named | null> {
  if (text.endsWith('*')) return { filter: 'event_type', value: text }
  if (text.length > MAX_VENDOR_ID_LENGTH) return null
  return meaning(text, await batch(db, lookUp(db, project, text)))
}

/** The first that applies. An id is more specific than a type, so it comes first. */
function meaning(text: string, found: Results<ReturnType<typeof lookUp>>): Named | null {
  const { event, connection, replay, delivered, ref, type } = found
  const [one, another] = delivered
  const first = type[0]?.first ?? null
  if (event[0]) return { event: event[0].id }
  if (one && !another) return { event: one.id }
  if (one) return { filter: 'vendor_event_id', value: text }
  if (connection.length > 0) return { filter: 'connection_id', value: text }
  if (replay.length > 0) return { filter: 'replay_id', value: text }
  if (ref.length > 0) return { filter: 'ref', value: text }
  if (first === null) return null
  return { filter: 'event_type', value: first === text ? text : `${text}*` }
}
