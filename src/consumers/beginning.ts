import { type SQL, sql } from 'drizzle-orm'
import { type Db, raw } from '../db/client'
import { type Look, limitedLook, union } from '../db/names'
import { begins } from '../db/sql'
import { MAX_BEGINNING } from './limits'
import { consumersNamed } from './names'
import { EXTERNAL } from './ref'
import { consumerIds, consumers } from './schema'

/**
 * Looks for what begins with a text in a project: the ids of consumers by email addresses, by the words of names, and by external ids. The names
 * come first.
 */
function looksOf(projectId: string, text: string): [names: Look[], others: Look[]] {
  const { email, id } = consumers
  const ofProject = sql`project_id = ${projectId}`
  const external = text.startsWith(EXTERNAL) ? text.slice(EXTERNAL.length) : text
  const byEmail = sql`SELECT ${id} AS id FROM ${consumers} INDEXED BY consumers_email
    WHERE ${ofProject} AND ${begins(email, text.toLowerCase())}`
  const byId = sql`SELECT ${consumerIds.consumer_id} AS id FROM ${consumerIds}
    WHERE ${ofProject} AND ${begins(consumerIds.external_id, external)}`
  const { of_consumers, of_ids } = MAX_BEGINNING
  return [
    consumersNamed(projectId, text, of_consumers),
    [limitedLook(sql`id`, byEmail, of_consumers), limitedLook(sql`id`, byId, of_ids)],
  ]
}

/** The ids of the consumers whose email address, words of a name or external id begin with a text, as a subquery: see {@link isCutOff}. */
export function idsBeginning(projectId: string, text: string): SQL {
  const [names, others] = looksOf(projectId, text)
  return sql`(SELECT id FROM ${union(names)} UNION SELECT id FROM ${union(others)})`
}

/** Reads whether more may begin with a text than {@link idsBeginning} finds. */
export function isCutOff(db: Db, projectId: string, text: string) {
  const more = looksOf(projectId, text)
    .flat()
    .map((look) => look.more)
  const cut = sql<boolean>`(${sql.join(more, sql` OR `)})`.mapWith(Boolean)
  return raw(db, { cut }, (fields) => sql`SELECT ${fields}`)
}
