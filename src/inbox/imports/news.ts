import { readOf } from '../../billing/fetched'
import { findKnownOf } from '../../billing/read/known'
import { findErasedAmong } from '../../consumers/links'
import { batch, type Db } from '../../db/client'
import { writeLog } from '../../http/log'
import { utf8 } from '../../lib/crypto'
import { iso } from '../../lib/time'
import { MAX_DELIVERY_BYTES } from '../receive/limits'
import { type Fetched, news } from '../refresh/ask'
import { customerOf } from '../refresh/erased'
import type { SourceKey } from '../refresh/keys'
import { KNOWN } from '../refresh/limits'
import type { FetchedRecord } from '../refresh/record'
import { LIST_LAG_MS } from './limits'

/**
 * The records of those objects of a page that say something new. Nothing is recorded of customers whose consumers were erased.
 *
 * @returns `left_out`: how many objects may not or cannot be recorded, whatever they say
 */
export async function newsOfPage(
  db: Db,
  key: SourceKey,
  objects: readonly Fetched[],
): Promise<{ records: FetchedRecord[]; left_out: number }> {
  const kind = objects[0]?.kind
  if (kind === undefined || kind === 'checkout' || kind === 'checkout_items') return { records: [], left_out: 0 }
  const { project_id, vendor } = key
  const ids = objects.map(({ object }) => String(object.id))
  const customers = objects.map((one) => customerOf(key, one))
  const { known, erased } = await batch(db, {
    known: findKnownOf(
      db,
      ids.map((vendor_id) => ({ project_id, vendor, kind, vendor_id })),
      KNOWN.bytes,
    ),
    erased: findErasedAmong(db, project_id, vendor, [...new Set(customers.filter((one) => one !== null))]),
  })
  const gone = new Set(erased.map(({ id }) => id))
  const live = objects.filter((_, i) => !gone.has(customers[i] ?? ''))
  const all = await news(key, live, known, readInList)
  const records = all.filter(isKept)
  return { records, left_out: objects.length - live.length + all.length - records.length }
}

/** Whether an object fits into a payload: a larger one could not be read again. No vendor is known to have one. */
function isKept({ kind, object }: FetchedRecord): boolean {
  const bytes = utf8(JSON.stringify(object)).byteLength
  if (bytes > MAX_DELIVERY_BYTES) writeLog('warn', 'fetched_too_large', { kind, bytes })
  return bytes <= MAX_DELIVERY_BYTES
}

/** When an object of a list was read: lists may lag behind, so that they contain nothing of what is known. */
const readInList: typeof readOf = (answer) => {
  const read = readOf({ ...answer, over: null })
  const latest = Date.parse(answer.date ?? '') - LIST_LAG_MS
  return Date.parse(read.at) > latest ? { ...read, at: iso(latest) } : read
}
