import { and, type Column, eq, exists, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteSelect } from 'drizzle-orm/sqlite-core'
import { type ObjectKey, sourceOf } from '../billing/read/store'
import type { Db } from '../db/client'
import { json } from '../db/sql'
import { utf8 } from '../lib/crypto'
import { inflated } from './packing'
import { MAX_DELIVERY_BYTES } from './receive/limits'
import { bodies, events, packedBodies, packedKeyOf, payloads } from './schema'

/** The bytes as text, byte order mark included; null if they are not UTF-8, or contain a NUL, which text would lose. */
export function asText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null // not UTF-8: kept as a BLOB
  }
}

/**
 * A stored payload as it is read: its text or, where it is not text, its bytes as hexadecimal. D1 would return them as a
 * list of numbers, which takes ten times as much. They are in two parts, because D1 has no value of more than 2,000,000
 * bytes. If there is an `encoding`, the bytes are text that was packed: {@link unpacked} gives it.
 */
export type Body = { text: string | null; hex: string | null; more_hex: string | null; encoding: 'deflate' | null }

/** A row with the text of its payload, if that was packed. @throws what `inflated` throws */
export function unpacked<B extends Body>(row: B): B {
  if (row.encoding === null) return row
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(row))
  return { ...row, text, hex: null, more_hex: null, encoding: null }
}

/** Whether the payload is there: it may be past its retention, or may not have been asked for. */
export function isKept({ text, hex }: Body): boolean {
  return text !== null || hex !== null
}

/** The bytes of a payload that is there, as the vendor sent them. @throws what `inflated` throws */
export function bytesOf({ text, hex, more_hex, encoding }: Body): Uint8Array<ArrayBuffer> {
  if (text !== null) return utf8(text)
  const bytes = Uint8Array.fromHex((hex ?? '') + (more_hex ?? '')) as Uint8Array<ArrayBuffer>
  return encoding === null ? bytes : inflated(bytes)
}

/*
 * Reads payloads: from `packed_bodies`, or from `bodies` or `payloads` until housekeeping has moved them. No other code knows that
 * there are three tables.
 */

/** The columns that say which payload is meant. */
type PayloadKey = { project_id: Column | SQL.Aliased; payload_id: Column | SQL.Aliased }
type Former = typeof bodies | typeof payloads
type Table = typeof packedBodies | Former

const isOf = (table: Former, key: PayloadKey) => and(eq(table.project_id, key.project_id), eq(table.id, key.payload_id))
const isPackedOf = (key: PayloadKey) =>
  and(eq(packedBodies.key, packedKeyOf(key.payload_id)), eq(packedBodies.project_id, key.project_id))

/** Joins the payload to each row of a query. A row without a payload stays. */
export function withPayload<Q extends SQLiteSelect>(query: Q, key: PayloadKey): Q {
  return query
    .leftJoin(packedBodies, isPackedOf(key))
    .leftJoin(bodies, and(isNull(packedBodies.key), isOf(bodies, key)))
    .leftJoin(payloads, and(isNull(packedBodies.key), isNull(bodies.id), isOf(payloads, key))) as unknown as Q
}

/** Of a joined payload: an expression of its table's columns. */
function ofPayload<T>(expression: (table: Table) => SQL | Column): SQL<T | null> {
  return sql`CASE WHEN ${packedBodies.key} IS NOT NULL THEN ${expression(packedBodies)}
    WHEN ${bodies.id} IS NULL THEN ${expression(payloads)} ELSE ${expression(bodies)} END`
}

const isDeflated = (table: Table) => (table === packedBodies ? sql`${packedBodies.encoding} IS NOT NULL` : sql`0`)
const sizeOf = (table: Table) => (table === packedBodies ? packedBodies.bytes : sql`octet_length(${table.body})`)
const isText = (table: Table) => sql`(typeof(${table.body}) = 'text' OR ${isDeflated(table)})`

/** Of a joined payload: whether it is there. It may be past its retention. */
export const isJoined = sql`coalesce(${packedBodies.key}, ${bodies.id}, ${payloads.id}) IS NOT NULL`
/** Of a joined payload: how many bytes the vendor sent, without reading them. */
export const payloadBytes = ofPayload<number>(sizeOf)
/** How many bytes {@link textColumns} gives once it is unpacked. */
export const textBytes = ofPayload<number>((table) => sql`CASE WHEN ${isText(table)} THEN ${sizeOf(table)} END`)
/** Of a joined payload: its headers. */
export const payloadHeaders = json<Record<string, string> | null>(ofPayload(({ headers }) => headers))

/** Whether the payload is kept: a condition without a join. */
export function hasPayload(db: Db, key: PayloadKey): SQL | undefined {
  return or(
    exists(db.select({ key: packedBodies.key }).from(packedBodies).where(isPackedOf(key))),
    ...[bodies, payloads].map((table) => exists(db.select({ id: table.id }).from(table).where(isOf(table, key)))),
  )
}

/** Bytes in the first part of {@link Body}: half of the largest delivery. */
const PART = MAX_DELIVERY_BYTES / 2

/**
 * Of a joined payload: the columns of a {@link Body}. They are null if the condition does not hold, and the payload is
 * then not read.
 */
export function bodyColumns(condition: SQL): Columns {
  return columnsIf(condition, ({ body }) => sql`typeof(${body}) = 'blob'`)
}

/** As {@link bodyColumns}, for code that can use only text: other bytes are not read. */
export const textColumns: Columns = columnsIf(sql`1`, isDeflated)

type Columns = { [Name in keyof Body]: SQL.Aliased<Body[Name]> }

/** @param isHex which bytes are read as hexadecimal */
function columnsIf(condition: SQL, isHex: (table: Table) => SQL): Columns {
  const columnOf = <T>(which: (table: Table) => SQL, value: (table: Table) => SQL | Column) =>
    sql<T | null>`CASE WHEN ${condition} THEN ${ofPayload((table) => sql`CASE WHEN ${which(table)} THEN ${value(table)} END`)} END`
  const hexOf = (part: (body: Column) => SQL) => columnOf<string>(isHex, ({ body }) => sql`hex(${part(body)})`)
  return {
    text: columnOf<string>(
      ({ body }) => sql`typeof(${body}) = 'text'`,
      ({ body }) => body,
    ).as('text'),
    hex: hexOf((body) => sql`substr(${body}, 1, ${PART})`).as('hex'),
    more_hex: hexOf((body) => sql`substr(${body}, ${PART + 1})`).as('more_hex'),
    encoding: columnOf<'deflate'>(isDeflated, () => packedBodies.encoding).as('encoding'),
  }
}

/**
 * Reads the payload of the event that the state of a billing object comes from; no row if the event is no longer kept,
 * null if its payload is not.
 */
export function findSourcePayload(db: Db, projectId: string, key: ObjectKey) {
  const select = db.select({ id: events.id, ...textColumns }).from(events)
  return withPayload(select.$dynamic(), events).where(
    and(eq(events.project_id, projectId), inArray(events.id, sourceOf(db, projectId, key))),
  )
}
