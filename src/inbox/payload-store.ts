import { type Column, type SQL, sql } from 'drizzle-orm'
import { literals } from '../db/sql'
import type { Body } from './payload'
import { MAX_DELIVERY_BYTES } from './receive/limits'
import { payloads } from './schema'

/** Bytes in the first part of {@link Body}: half of the largest delivery. */
const PART = MAX_DELIVERY_BYTES / 2

/** The columns of a {@link Body}: null where the condition does not hold, and then the payload is not read. */
export function bodyColumns(condition: SQL): Record<keyof Body, SQL.Aliased<string | null>> {
  const { body } = payloads
  const ofType = (type: 'text' | 'blob', value: SQL | Column) =>
    sql<string | null>`CASE WHEN typeof(${body}) = ${literals([type])} AND (${condition}) THEN ${value} END`
  return {
    text: ofType('text', body).as('text'),
    hex: ofType('blob', sql`hex(substr(${body}, 1, ${PART}))`).as('hex'),
    more_hex: ofType('blob', sql`hex(substr(${body}, ${PART + 1}))`).as('more_hex'),
  }
}

/** A payload as it is bound: text as it is, other bytes as hexadecimal, which SQLite turns into a BLOB. */
export function bodyValue(body: string | Uint8Array): SQL {
  if (typeof body === 'string') return sql`${body}`
  const [hex, more] = [body.subarray(0, PART), body.subarray(PART)].map((part) => part.toHex())
  return sql`CAST(unhex(${hex}) || unhex(${more}) AS BLOB)`
}
