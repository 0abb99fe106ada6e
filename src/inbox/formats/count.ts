import { idTime } from '../../lib/ids'
import type { ConnectionPlace } from '../of-connection'
import type { Verdict } from '../process/verdict'
import { sourceOfId } from '../sources'
import {
  FORMATS_WRITTEN_EVERY,
  MAX_FORMAT_COUNTS,
  MAX_FORMAT_COUNTS_OF_A_PROJECT,
  MAX_UNKNOWN_WORDS,
  MAX_UNSEEN,
} from './limits'
import { cut, fieldsIn, isShown, type ShownSnapshot, unknownWordsIn } from './parsed'
import type { FormatRow } from './schema'
import { oldestWeek, weekOf } from './weeks'

/**
 * What this isolate has not written yet of a store: counts by their key, connections that are still to be looked at, and when it wrote
 * last (ms).
 */
type Pending = { counts: Map<string, FormatRow>; unseen: Map<string, ConnectionPlace>; written_at: number }
export const unwrittenCounts = new Map<number, Pending>()

/**
 * Counts the fields of the states that an event describes. Each event counts when it is first processed. Replays do not count, and nor do
 * fetched objects, for which we choose the version.
 */
export function countFormat(store: number, { event, status, summary, snapshots }: Verdict): void {
  if (status !== 'processed' || event.replay_id !== null || sourceOfId(event.id) !== 'delivery') return
  const week = weekOf(idTime(event.id))
  if (week < oldestWeek(Date.now())) return // it was on hold for long
  const pending = unwrittenCounts.get(store) ?? { counts: new Map(), unseen: new Map(), written_at: 0 }
  unwrittenCounts.set(store, pending)
  const { project_id, connection_id } = event
  const api_version = cut(summary?.api_version ?? '')
  for (const snapshot of snapshots.filter(isShown)) {
    const key = { project_id, connection_id, api_version, kind: snapshot.kind, week }
    const row = rowOf(pending, key, event.id)
    if (row) add(row, snapshot, event.id)
  }
}

/** The count with this key; undefined if it would be one too many. */
function rowOf(
  { counts }: Pending,
  key: ConnectionPlace & Pick<FormatRow, 'api_version' | 'kind' | 'week'>,
  id: string,
) {
  const name = JSON.stringify(Object.values(key))
  const known = counts.get(name)
  if (known || counts.size >= MAX_FORMAT_COUNTS) return known
  const own = [...counts.values()].filter(({ project_id }) => project_id === key.project_id)
  if (own.length >= MAX_FORMAT_COUNTS_OF_A_PROJECT) return undefined
  const row: FormatRow = { ...key, events: 0, fields: {}, words: {}, first_event: id, last_event: id }
  counts.set(name, row)
  return row
}

function add(row: FormatRow, snapshot: ShownSnapshot, id: string): void {
  row.events += 1
  for (const field of fieldsIn(snapshot)) row.fields[field] = (row.fields[field] ?? 0) + 1
  for (const word of unknownWordsIn(snapshot)) {
    const n = Object.hasOwn(row.words, word) ? row.words[word] : undefined
    if (n !== undefined || Object.keys(row.words).length < MAX_UNKNOWN_WORDS) row.words[word] = (n ?? 0) + 1
  }
  if (id < row.first_event) row.first_event = id
  if (id > row.last_event) row.last_event = id
}

/**
 * Takes what is to be written of a store; null if there is nothing, or if something was written a moment ago.
 *
 * @param most connections that are looked at. The others stay for the next time.
 */
export function takeFormats(store: number, most: number): { counts: FormatRow[]; looked: ConnectionPlace[] } | null {
  const pending = unwrittenCounts.get(store)
  const now = Date.now()
  if (!pending || pending.counts.size + pending.unseen.size === 0) return null
  const since = now - pending.written_at
  if (since >= 0 && since < FORMATS_WRITTEN_EVERY) return null
  const counts = [...pending.counts.values()]
  pending.counts = new Map()
  pending.written_at = now
  for (const { project_id, connection_id } of counts) {
    if (pending.unseen.size < MAX_UNSEEN) pending.unseen.set(connection_id, { project_id, connection_id })
  }
  const looked = [...pending.unseen.values()].slice(0, most)
  for (const { connection_id } of looked) pending.unseen.delete(connection_id)
  return { counts, looked }
}
