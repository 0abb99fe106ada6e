import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Change } from '../audit/store'
import type { Db } from '../db/client'
import { MAX_EDITS, MAX_KEPT_METADATA_BYTES } from './limits'
import { consumerIdOf } from './read'
import type { ConsumerRef } from './ref'
import { type ConsumerFields, consumers } from './schema'

/** Who changes a consumer, and when. */
export type Editing = Pick<Change, 'now' | 'actor'>

/**
 * The changes of a consumer with the one that an UPDATE of it makes, for the same UPDATE: so no change costs another row. The oldest change
 * is dropped if there are too many.
 *
 * @param fields what the UPDATE sets, with values that may be the same
 * @param named the external id that the change adds
 */
export function edited(fields: ConsumerFields, { now, actor }: Editing, named?: string): SQL {
  const was = Object.keys(fields).map((name) => {
    const column = consumers[name as keyof ConsumerFields]
    const value = sql.param(fields[name as keyof ConsumerFields], column)
    return sql`iif(${column} IS NOT ${value}, ${sql.raw(`',"${name}":'`)} || ${kept(name as keyof ConsumerFields)}, '')`
  })
  const replaced = was.length > 0 ? sql`'{' || substr(${sql.join(was, sql` || `)}, 2) || '}'` : sql`'{}'`
  const alsoNamed = named === undefined ? sql`` : sql`, 'named', ${named}`
  const { edits } = consumers
  return sql`json_insert(CASE WHEN ${edits} IS NULL THEN '[]' WHEN json_array_length(${edits}) < ${MAX_EDITS} THEN ${edits}
    ELSE json_remove(${edits}, '$[0]') END, '$[#]',
    json_object('at', CAST(${now} AS INTEGER), 'by', ${actor.id}, 'was', json(${replaced})${alsoNamed}))`
}

/** The value of a field as JSON. */
function kept(name: keyof ConsumerFields): SQL {
  const { [name]: column } = consumers
  return name === 'metadata'
    ? sql`iif(octet_length(${column}) <= ${MAX_KEPT_METADATA_BYTES}, ${column}, 'null')`
    : sql`json_quote(${column})`
}

/** Reads who created a consumer, and its last changes. */
export function editsOf(db: Db, projectId: string, of: ConsumerRef) {
  const { created_by, edits } = consumers
  return db
    .select({ created_by, edits })
    .from(consumers)
    .where(and(eq(consumers.project_id, projectId), eq(consumers.id, consumerIdOf(projectId, of))))
}
