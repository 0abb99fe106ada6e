import { and, type Column, eq, exists, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteSelect } from 'drizzle-orm/sqlite-core'
import { type ObjectKey, sourceOf } from '../billing/read/store'
import type { Db } from '../db/client'
import { json, literals } from '../db/sql'
import { concat, utf8 } from '../lib/crypto'
import { MAX_DELIVERY_BYTES } from './receive/limits'
import { bodies, events, payloads } from './schema'

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
 * A stored payload as it is read: its text, or where it is not text its bytes as hexadecimal. D1 would return them as a
 * list of numbers, which takes ten times as much. In two parts, because D1 has no value of more than 2,000,000 bytes.
 */
export type Body = { text: string | null; hex: string | null; more_hex: string | null }

/** Whether the payload is there: it may be past its retention, or may not have been asked for. */
export function isKept({ text, hex }: Body): boolean {
  return text !== null || hex !== null
}

/** The bytes of a payload that is there. */
export function bytesOf({ text, hex, more_hex }: Body): Uint8Array<ArrayBuffer> {
  if (text !== null) return utf8(text)
  return concat([hex, more_hex].map((part) => Uint8Array.fromHex(part ?? '')))
}

/*
 * Reads payloads: from `bodies`, or from `payloads` until housekeeping has moved them. No other code knows that there
 * are two tables.
 */

/** The columns that say which payload is meant. */
type PayloadKey = { project_id: Column | SQL.Aliased; payload_id: Column | SQL.Aliased }
type Table = typeof bodies | typeof payloads

const isOf = (table: Table, key: PayloadKey) => and(eq(table.project_id, key.project_id), eq(table.id, key.payload_id))

/** Joins the payload to each row of a query. A row without a payload stays. */
export function withPayload<Q extends SQLiteSelect>(query: Q, key: PayloadKey): Q {
  return query
    .leftJoin(bodies, isOf(bodies, key))
    .leftJoin(payloads, and(isNull(bodies.id), isOf(payloads, key))) as unknown as Q
}

/** Of a joined payload: an expression of its table's columns. */
function ofPayload<T>(expression: (table: Table) => SQL | Column): SQL<T | null> {
  return sql`CASE WHEN ${bodies.id} IS NULL THEN ${expression(payloads)} ELSE ${expression(bodies)} END`
}

/** Of a joined payload: whether it is there. It may be past its retention. */
export const isJoined = sql`coalesce(${bodies.id}, ${payloads.id}) IS NOT NULL`
/** Of a joined payload: how many bytes it has, without reading them. */
export const payloadBytes = ofPayload<number>(({ body }) => sql`octet_length(${body})`)
/** Of a joined payload: its text. Bytes that are not UTF-8 stay where they are: processing has no use for them. */
export const payloadText = ofPayload<string>(({ body }) => ofType(body, 'text', body))
/** How many bytes {@link payloadText} reads. */
export const textBytes = ofPayload<number>(({ body }) => ofType(body, 'text', sql`octet_length(${body})`))
/** Of a joined payload: its headers. */
export const payloadHeaders = json<Record<string, string> | null>(ofPayload(({ headers }) => headers))

/** Whether the payload is kept: a condition without a join. */
export function hasPayload(db: Db, key: PayloadKey): SQL | undefined {
  return or(
    ...[bodies, payloads].map((table) => exists(db.select({ id: table.id }).from(table).where(isOf(table, key)))),
  )
}

/** Bytes in the first part of {@link Body}: half of the largest delivery. */
const PART = MAX_DELIVERY_BYTES / 2

/**
 * Of a joined payload: the columns of a {@link Body}. They are null if the condition does not hold, and the payload is
 * then not read.
 */
export function bodyColumns(condition: SQL): Record<keyof Body, SQL.Aliased<string | null>> {
  const columnOf = (type: 'text' | 'blob', value: (body: Column) => SQL | Column) =>
    sql<string | null>`CASE WHEN ${condition} THEN ${ofPayload(({ body }) => ofType(body, type, value(body)))} END`
  return {
    text: columnOf('text', (body) => body).as('text'),
    hex: columnOf('blob', (body) => sql`hex(substr(${body}, 1, ${PART}))`).as('hex'),
    more_hex: columnOf('blob', (body) => sql`hex(substr(${body}, ${PART + 1}))`).as('more_hex'),
  }
}

function ofType(body: Column, type: 'text' | 'blob', value: SQL | Column): SQL {
  return sql`CASE typeof(${body}) WHEN ${literals([type])} THEN ${value} END`
}

/**
 * Reads the payload of the event that the state of a billing object comes from; no row if the event is no longer kept,
 * null if its payload is not.
 */
export function findSourcePayload(db: Db, projectId: string, key: ObjectKey) {
  const select = db.select({ text: payloadText.as('text') }).from(events)
  return withPayload(select.$dynamic(), events).where(
    and(eq(events.project_id, projectId), inArray(events.id, sourceOf(db, projectId, key))),
  )
}
