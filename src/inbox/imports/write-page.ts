import { and, eq, isNull, sql } from 'drizzle-orm'
import { batch, type Db, type Query, raw, rawWrite } from '../../db/client'
import { bare, jsonLists } from '../../db/sql'
import type { VendorPrice } from '../../vendors/calls'
import { connections } from '../connections/schema'
import { dueUnlessPaused } from '../held'
import { FIRST_DUE_MS } from '../limits'
import { isKeyTaken, newKeys, packed } from '../packing'
import { partsOf, withPart } from '../receive/body-parts'
import type { FetchedRecord } from '../refresh/record'
import { events, PACKED_COLUMNS, packedBodies } from '../schema'
import { vendorKeys } from '../vendor-api/schema'
import { isHeldBy, type Taken } from './lease'
import { writePrices } from './prices'
import type { Step } from './progress'
import { vendorRuns } from './schema'

/** What a page says: how far the import is then, and what is to be written with it. */
export type ReadPage = { step: Step; records: readonly FetchedRecord[]; prices: readonly VendorPrice[] }

/**
 * Records what a page says, and how far the import is then: one transaction, which gives the import back. It writes nothing if
 * another worker has the import, it was canceled, or the connection has changed or lost its key since it was read.
 *
 * @returns whether it was written
 */
export async function writePage(db: Db, taken: Taken, page: ReadPage): Promise<boolean> {
  const { step, records, prices } = page
  try {
    const { changed } = await batch(db, {
      ...recordStatements(db, taken, records),
      ...(prices.length > 0 && { prices: writePrices(db, prices, fencedList(taken)) }),
      changed: stepStatement(db, taken, step, records.length + prices.length > 0),
    })
    return changed.length > 0
  } catch (error) {
    if (!isKeyTaken(error)) throw error
    return writePage(db, taken, page) // with other keys
  }
}

/** The import is held, and its connection is as it was read: a condition on both of their rows. */
function fence({ run, source, token }: Taken) {
  const hasKey = sql`EXISTS (SELECT 1 FROM ${vendorKeys} WHERE ${and(
    eq(vendorKeys.project_id, run.project_id),
    eq(vendorKeys.connection_id, run.connection_id),
  )})`
  return and(
    eq(vendorRuns.project_id, run.project_id),
    eq(vendorRuns.id, run.id),
    isHeldBy(token),
    eq(connections.id, run.connection_id),
    eq(connections.version, source?.connection.version ?? -1),
    isNull(connections.deleted_at),
    hasKey,
  )
}

/** A list `j`, beside the rows of the import and its connection, if it may be written. */
function fencedList(taken: Taken) {
  return (list: string) =>
    sql`FROM ${vendorRuns} CROSS JOIN ${connections} CROSS JOIN json_each(${list}) j WHERE ${fence(taken)}`
}

function stepStatement(db: Db, taken: Taken, step: Step, isFenced: boolean) {
  const { project_id, id } = taken.run
  const own = and(eq(vendorRuns.project_id, project_id), eq(vendorRuns.id, id), isHeldBy(taken.token))
  const fenced = sql`EXISTS (SELECT 1 FROM ${connections} WHERE ${fence(taken)})`
  return db
    .update(vendorRuns)
    .set({ ...step, lease_token: null, lease_until: null })
    .where(isFenced ? and(own, fenced) : own)
    .returning({ id: vendorRuns.id })
}

/** A body with its first part. The other parts are appended by statements of their own. */
function bodyOf({ id, kind, object, read, headers }: FetchedRecord, key: number) {
  const { encoding, bytes, body } = packed(JSON.stringify(object))
  const [first, ...rest] = partsOf(body)
  const text = first.type === 'text' ? first.value : null
  const hex = first.type === 'blob' ? first.value : null
  const stored = { key, headers: JSON.stringify(headers), encoding, bytes, text, hex }
  return { key, rest, stored, event: { id, key: String(key), type: `fetch.${kind}`, at: read.at } }
}

/** The statements that record objects, by name: bodies, then events, both for the whole page. */
function recordStatements(db: Db, taken: Taken, records: readonly FetchedRecord[]): Record<string, Query> {
  const now = Date.now()
  const keys = newKeys(now, records.length)
  const bodies = records.map((record, i) => bodyOf(record, keys[i] as number))
  const from = fencedList(taken)
  const inserted = jsonLists(bodies.map(({ stored }) => stored)).map((list, i) => {
    const statement = sql`INSERT INTO ${packedBodies} (${PACKED_COLUMNS})
      SELECT j.value->>'key', ${vendorRuns.project_id}, j.value->>'headers', j.value->>'encoding', j.value->>'bytes',
        coalesce(j.value->>'text', unhex(j.value->>'hex')) ${from(list)}`
    return [`bodies_${i}`, rawWrite(db, statement)] as const
  })
  // Keys are new, so a body that has this one, and so many bytes, is of this transaction.
  const appended = bodies.flatMap(({ key, rest }) =>
    rest.map((part) => {
      const isOwn = and(eq(packedBodies.key, key), sql`octet_length(${packedBodies.body}) = ${part.from}`)
      const update = db
        .update(packedBodies)
        .set({ body: withPart(packedBodies.body, part) })
        .where(isOwn)
      return [`body_${key}_${part.from}`, update] as const
    }),
  )
  const listed = jsonLists(bodies.map(({ event }) => event)).map(
    (list, i) => [`events_${i}`, insertEvents(db, from(list), now)] as const,
  )
  return Object.fromEntries([...inserted, ...appended, ...listed])
}

function insertEvents(db: Db, from: ReturnType<typeof sql>, now: number) {
  const { id } = events
  return raw(
    db,
    { id },
    (fields) => sql`INSERT INTO ${events} (${bare(
      events.project_id,
      id,
      events.connection_id,
      events.vendor_event_id,
      events.event_type,
      events.occurred_at,
      events.payload_id,
      events.status,
      events.due_at,
      events.last_delivered_at,
    )})
      SELECT ${vendorRuns.project_id}, j.value->>'id', ${connections.id}, j.value->>'id', j.value->>'type', j.value->>'at',
        j.value->>'key', 'received', ${dueUnlessPaused(now + FIRST_DUE_MS)}, ${now} ${from}
      RETURNING ${fields}`,
  )
}
