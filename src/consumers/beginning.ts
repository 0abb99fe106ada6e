import { type SQL, sql } from 'drizzle-orm'
import { type Db, raw } from '../db/client'
import { begins, lowered } from '../db/sql'
import { MAX_BEGINNING } from './limits'
import { EXTERNAL } from './ref'
import { consumerIds, consumers } from './schema'

/**
 * The ids of the consumers of a project whose email address, name or external id begins with a text, as a subquery: at most
 * {@link MAX_BEGINNING} for each of the three. In names, the letters A to Z are the same as a to z.
 */
export function idsBeginning(projectId: string, text: string): SQL {
  const { email, name, id } = consumers
  const ofProject = sql`project_id = ${projectId}`
  const external = text.startsWith(EXTERNAL) ? text.slice(EXTERNAL.length) : text
  const some = (one: SQL) => sql`SELECT * FROM (${one} LIMIT ${MAX_BEGINNING})`
  const byEmail = sql`SELECT ${id} AS id FROM ${consumers} INDEXED BY consumers_email
    WHERE ${ofProject} AND ${begins(email, text.toLowerCase())}`
  const byName = sql`SELECT ${id} FROM ${consumers} INDEXED BY consumers_name
    WHERE ${ofProject} AND ${name} IS NOT NULL AND ${begins(sql`lower(${name})`, lowered(text))}`
  const byId = sql`SELECT ${consumerIds.consumer_id} FROM ${consumerIds}
    WHERE ${ofProject} AND ${begins(consumerIds.external_id, external)}`
  return sql`(${some(byEmail)} UNION ${some(byName)} UNION ${some(byId)})`
}

/** Counts the consumers that {@link idsBeginning} finds. */
export function countBeginning(db: Db, projectId: string, text: string) {
  return raw(db, { n: sql<number>`count(*)` }, (fields) => sql`SELECT ${fields} FROM ${idsBeginning(projectId, text)}`)
}
