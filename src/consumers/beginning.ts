import { type SQL, sql } from 'drizzle-orm'
import { type Db, raw } from '../db/client'
import { begins, lowered } from '../db/sql'
import { MAX_BEGINNING } from './limits'
import { EXTERNAL } from './ref'
import { consumerIds, consumers } from './schema'

/**
 * What begins with a text in a project, as statements that select the ids of consumers: email addresses, names, their last words, and external
 * ids. Each looks at no more than its limit. In names, the letters A to Z are the same as a to z.
 */
function partsOf(projectId: string, text: string): { ids: SQL; limit: number }[] {
  const { email, name, last_name, id } = consumers
  const ofProject = sql`project_id = ${projectId}`
  const external = text.startsWith(EXTERNAL) ? text.slice(EXTERNAL.length) : text
  const byEmail = sql`SELECT ${id} AS id FROM ${consumers} INDEXED BY consumers_email
    WHERE ${ofProject} AND ${begins(email, text.toLowerCase())}`
  const byName = sql`SELECT ${id} AS id FROM ${consumers} INDEXED BY consumers_name
    WHERE ${ofProject} AND ${name} IS NOT NULL AND ${begins(sql`lower(${name})`, lowered(text))}`
  const byLastName = sql`SELECT ${id} AS id FROM ${consumers} INDEXED BY consumers_last_name
    WHERE ${ofProject} AND ${last_name} IS NOT NULL AND ${begins(last_name, lowered(text))}`
  const byId = sql`SELECT ${consumerIds.consumer_id} AS id FROM ${consumerIds}
    WHERE ${ofProject} AND ${begins(consumerIds.external_id, external)}`
  const { of_consumers, of_ids } = MAX_BEGINNING
  return [
    { ids: byEmail, limit: of_consumers },
    { ids: byName, limit: of_consumers },
    { ids: byLastName, limit: of_consumers },
    { ids: byId, limit: of_ids },
  ]
}

/** The ids of the consumers whose email address, name, last name or external id begins with a text, as a subquery: see {@link isCutOff}. */
export function idsBeginning(projectId: string, text: string): SQL {
  const parts = partsOf(projectId, text).map(({ ids, limit }) => sql`SELECT id FROM (${ids} LIMIT ${limit})`)
  return sql`(${sql.join(parts, sql` UNION `)})`
}

/** Reads whether more may begin with a text than {@link idsBeginning} finds. */
export function isCutOff(db: Db, projectId: string, text: string) {
  const more = partsOf(projectId, text).map(({ ids, limit }) => sql`EXISTS (${ids} LIMIT 1 OFFSET ${limit})`)
  const cut = sql<boolean>`(${sql.join(more, sql` OR `)})`.mapWith(Boolean)
  return raw(db, { cut }, (fields) => sql`SELECT ${fields}`)
}
