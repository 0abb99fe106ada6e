import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Db, type Query, rawWrite } from '../../db/client'
import { insertFrom } from '../../db/insert-from'
import { bare, valuesOf } from '../../db/sql'
import { utf8 } from '../../lib/crypto'
import { state } from '../../stores/schema'
import { connections } from '../connections/schema'
import { bodies, events, payloads } from '../schema'
import { MAX_BODY_PART } from './limits'
import type { Recording } from './recording'

/**
 * The statements that record a delivery's payload, by name. They come after its events, and write only if one of the
 * events has this payload. A body that is larger than {@link MAX_BODY_PART} is appended part by part.
 */
export function bodyStatements(db: Db, { fence, delivery }: Recording): Record<string, Query> {
  const { payload_id, headers, received_at: now } = delivery
  const [first, ...rest] = partsOf(delivery.body)
  const projectId = sql`(SELECT ${connections.project_id} FROM ${connections} WHERE ${connections.id} = ${fence.id})`
  const isThis = and(eq(bodies.project_id, projectId), eq(bodies.id, payload_id))
  const body = rawWrite(
    db,
    sql`INSERT INTO ${bodies} (${bare(bodies.project_id, bodies.id, bodies.headers, bodies.body)})
      SELECT ${connections.project_id}, ${payload_id}, ${sql.param(headers, bodies.headers)}, ${first.value}
      FROM ${connections} WHERE ${connections.id} = ${fence.id} AND EXISTS (
        SELECT 1 FROM ${valuesOf(delivery.events.map(({ id }) => id))} j
        CROSS JOIN ${events} ON ${events.project_id} = ${connections.project_id} AND ${events.id} = j.value
          AND ${events.payload_id} = ${payload_id})
      ON CONFLICT DO NOTHING`,
  )
  // A repeat finds the whole body, so it appends nothing.
  const appended = rest.map(({ value, from }, i) => {
    const longer =
      first.type === 'text' ? sql`${bodies.body} || ${value}` : sql`CAST(${bodies.body} || ${value} AS BLOB)`
    return [
      `body_${i + 1}`,
      db
        .update(bodies)
        .set({ body: longer })
        .where(and(isThis, sql`octet_length(${bodies.body}) = ${from}`)),
    ]
  })
  return { body, ...Object.fromEntries(appended), copy: copyForPrevious(db, isThis, now) }
}

/**
 * During the deploy that creates `bodies`, the previous version may process the event, and it reads only `payloads`.
 */
function copyForPrevious(db: Db, isThis: SQL | undefined, now: number): Query {
  const { project_id, id, body, headers } = bodies
  return insertFrom(
    db,
    payloads,
    { project_id, id, body, headers },
    sql`FROM ${bodies} WHERE ${isThis} AND EXISTS (
      SELECT 1 FROM ${state} WHERE ${state.name} = 'payloads_move_from' AND ${state.value} > ${now})
      ON CONFLICT DO NOTHING`,
  )
}

/** A part of a body as it is bound: text as it is, other bytes as hexadecimal, which SQLite turns into a BLOB. */
type Part = { type: 'text' | 'blob'; value: SQL; from: number }

/** @returns the parts, each with the byte at which it begins */
function partsOf(body: string | Uint8Array): [Part, ...Part[]] {
  if (typeof body === 'string') return textParts(body)
  const parts: Part[] = []
  for (let from = 0; from < body.byteLength || from === 0; from += MAX_BODY_PART / 2) {
    const hex = body.subarray(from, from + MAX_BODY_PART / 2).toHex()
    parts.push({ type: 'blob', value: sql`unhex(${hex})`, from })
  }
  return parts as [Part, ...Part[]]
}

/** Parts of a text, cut between characters. */
function textParts(text: string): [Part, ...Part[]] {
  const part = (value: string, from: number): Part => ({ type: 'text', value: sql`${value}`, from })
  if (text.length <= MAX_BODY_PART / 3) return [part(text, 0)] // a UTF-16 unit is at most three bytes
  const bytes = utf8(text)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const parts: Part[] = []
  for (let from = 0; from < bytes.byteLength; ) {
    let end = Math.min(from + MAX_BODY_PART, bytes.byteLength)
    while (isWithinCharacter(bytes[end])) end -= 1
    parts.push(part(decoder.decode(bytes.subarray(from, end)), from))
    from = end
  }
  return parts as [Part, ...Part[]]
}

/** Whether a byte of UTF-8 continues a character that began before it. */
function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000
}
