import type { Db } from '../../db/client'
import { idTime, newId } from '../../lib/ids'
import type { FetchedKind } from '../../vendors/kinds'
import type { Json } from '../../vendors/lib/json'
import type { Read } from '../../vendors/snapshot'
import type { FetchHeaders } from '../fetched'
import { isKeyTaken } from '../packing'
import { recordDeliveries } from '../receive/insert'
import { asRecorded, type NewDelivery, type Recording, withOtherKey } from '../receive/recording'
import type { SourceKey } from './keys'
import { MAX_RECORDED, MAX_RECORDED_BYTES } from './limits'

/** An object of an answer of the vendor's API. */
export type FetchedRecord = {
  id: string
  kind: FetchedKind
  object: Json
  read: Read
  headers: FetchHeaders
}

/** @param answered the vendor's `Date`, and how long it took (ms) */
export function recordOf(
  kind: FetchedKind,
  object: Json,
  read: Read,
  answered: { date: string | null; took_ms: number },
): FetchedRecord {
  const { at, until, over, cause } = read
  return {
    id: newId('ftc', Date.now()),
    kind,
    object,
    read,
    headers: {
      kind,
      at,
      until,
      over: over ?? '',
      cause: cause ?? '',
      date: answered.date ?? '',
      took: String(answered.took_ms),
    },
  }
}

/**
 * Records fetches: each is like a delivery with one event, whose id is also the vendor's.
 *
 * @returns the ids of the records; none if the connection has changed since it was read
 */
export async function recordFetches(
  db: Db,
  { connection_id: id, connection: { version, packed_from } }: Pick<SourceKey, 'connection_id' | 'connection'>,
  records: readonly FetchedRecord[],
): Promise<string[]> {
  const now = Date.now()
  const recordings: Recording[] = []
  for (const one of records)
    recordings.push({ fence: { id, version }, delivery: asRecorded(deliveryOf(one, now), packed_from) })
  return recordInBatches(db, recordings)
}

/** Records deliveries, as many at once as a batch takes. @returns the ids of the records; none if the connection has changed since it was read */
export async function recordInBatches(db: Db, recordings: readonly Recording[]): Promise<string[]> {
  const ids: string[] = []
  for (const some of batches(recordings)) ids.push(...(await recordSome(db, some)))
  return ids
}

async function recordSome(db: Db, recordings: readonly Recording[]): Promise<string[]> {
  try {
    return (await recordDeliveries(db, recordings)).flat().map(({ id }) => id)
  } catch (error) {
    if (!isKeyTaken(error)) throw error
    return recordSome(db, recordings.map(withOtherKey))
  }
}

/** As many at once as one batch takes. */
function batches(recordings: readonly Recording[]): Recording[][] {
  const lists: Recording[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const recording of recordings) {
    const size = sizeOf(recording)
    const last = lists.at(-1)
    bytes += size
    if (last && last.length < MAX_RECORDED && bytes <= MAX_RECORDED_BYTES) last.push(recording)
    else {
      lists.push([recording])
      bytes = size
    }
  }
  return lists
}

function sizeOf({ delivery }: Recording): number {
  return 'packed' in delivery ? delivery.packed.bytes : delivery.body.length
}

function deliveryOf({ id, kind, object, read, headers }: FetchedRecord, now: number): NewDelivery {
  const event = { id, vendor_event_id: id, event_type: `fetch.${kind}`, occurred_at: read.at, content_digest: null }
  const body = JSON.stringify(object)
  return { payload_id: newId('pay', idTime(id)), body, headers, events: [event], received_at: now }
}
