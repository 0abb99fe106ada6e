import { type Column, type SQL, sql } from 'drizzle-orm'
import type { Db, Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import { customerLinks, ERASED_PINS } from './schema'

const { project_id, customer, vendor, said, said_rank, hint, hint_rank, pinned } = customerLinks

/**
 * Records claims of events, in one statement. The newest claim of the customer itself is kept, and the earliest of a checkout:
 * these are functions of the set of claims, so neither order nor repetition matters. A claim that changes neither writes no row, and
 * neither does a claim of an erased customer.
 *
 * @param projectId an expression of the project's id
 * @param from yields a row for each claim
 * @param claim an expression of the claim as JSON: see `claimed`
 */
export function recordClaims(db: Db, projectId: SQL | Column, from: SQL, claim: SQL): Query<void> {
  const field = (column: Column) => sql`${claim}->>${sql.raw(`'${column.name}'`)}`
  const newer = sql`${excluded(said_rank)} > coalesce(${said_rank}, '')`
  const earlier = sql`(${excluded(hint_rank)} < ${hint_rank} OR ${excluded(hint_rank)} IS NOT NULL AND ${hint_rank} IS NULL)`
  const kept = (column: Column, wins: SQL) =>
    sql`${bare(column)} = CASE WHEN ${wins} THEN ${excluded(column)} ELSE ${column} END`
  return insertFrom(
    db,
    customerLinks,
    {
      project_id: projectId,
      customer: field(customer),
      vendor: field(vendor),
      said: field(said),
      said_rank: field(said_rank),
      hint: field(hint),
      hint_rank: field(hint_rank),
    },
    sql`${from} WHERE true ON CONFLICT (${bare(project_id, customer, vendor)}) DO UPDATE SET
      ${kept(said, newer)}, ${kept(said_rank, newer)}, ${kept(hint, earlier)}, ${kept(hint_rank, earlier)}
      WHERE (${newer} OR ${earlier}) AND (${pinned} IS NULL OR ${pinned} NOT GLOB ${ERASED_PINS})`,
  )
}
