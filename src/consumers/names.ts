import { and, isNull, sql } from 'drizzle-orm'
import { type Db, raw, run } from '../db/client'
import { type Look, limitedLook, looksFor } from '../db/names'
import { begins, lowered } from '../db/sql'
import { keysOf, type NameKeys } from '../lib/names'
import type { PassStep } from '../tenancy/pass'
import { CONSUMERS_KEYED_AT_ONCE } from './limits'
import { type ConsumerFields, consumerNames, consumers } from './schema'

const { project_id, id, name, name_keys } = consumers

const isWithoutKeys = sql`${name} IS NOT NULL AND ${name_keys} IS NULL`

/** Fields as they are stored: a name with its keys. */
export function withKeys<F extends ConsumerFields>(fields: F): F & { name_keys?: NameKeys | null } {
  return fields.name === undefined ? fields : { ...fields, name_keys: keysOf(fields.name) }
}

/**
 * Looks for the ids of consumers by the words of a name: see {@link looksFor}. The last one is for names that have no keys yet: by their first
 * letters, of which A to Z are the same as a to z.
 */
export function consumersNamed(projectId: string, text: string, most: number): Look[] {
  const names = { table: consumerNames, of: { id: consumerNames.consumer_id } }
  const withoutKeys = sql`SELECT ${id} AS id FROM ${consumers} INDEXED BY consumers_without_keys
    WHERE ${project_id} = ${projectId} AND ${isWithoutKeys} AND ${begins(sql`lower(${name})`, lowered(text))}`
  return [...looksFor(names, projectId, text, most), limitedLook(sql`id`, withoutKeys, most)]
}

/**
 * Writes the keys of some names that were recorded before there were keys, or by a version that knows none. If there are none, that is one
 * statement that reads nothing.
 */
export async function addConsumerKeys(db: Db): Promise<PassStep> {
  const rows = await run(
    db,
    raw(
      db,
      { project_id, id, name: sql<string>`${name}` },
      (fields) => sql`SELECT ${fields} FROM ${consumers} INDEXED BY consumers_without_keys
        WHERE ${project_id} > '' AND ${isWithoutKeys} LIMIT ${CONSUMERS_KEYED_AT_ONCE}`,
    ),
  )
  if (rows.length === 0) return { done: 0, after: null }
  const list = JSON.stringify(rows.map((row) => ({ ...row, keys: keysOf(row.name) })))
  const [of, ofId, ofName, keys] = ['project_id', 'id', 'name', 'keys'].map((field) => sql.raw(`j.value->>'${field}'`))
  await run(
    db,
    db
      .update(consumers)
      .set({ name_keys: sql`${keys}` })
      .from(sql`json_each(${list}) j`)
      .where(and(sql`${project_id} = ${of} AND ${id} = ${ofId} AND ${name} = ${ofName}`, isNull(name_keys))),
  )
  return { done: rows.length, after: 'more' }
}
