import { type Column, type SQL, sql } from 'drizzle-orm'
import type { Db, Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import { customerLinks, ERASED_PINS } from './schema'

const { project_id, customer, vendor, said, said_rank, hint, hint_rank, pinned } = customerLinks

/**
 * Records claims of events. The newest claim of the customer itself is kept, and the earliest of a checkout: these are
 * functions of the set of claims, so neither order nor repetition matters. An older claim of the customer, a later one of a
 * checkout, and any claim of an erased customer write no row.
 *
 * @param projectId an expression of the project's id
 * @param from yields a row for each claim
 * @param claim an expression of the claim as JSON: see `claimed`
 */
export function recordClaims(db: Db, projectId: SQL | Column, from: SQL, claim: SQL) {
  const field = (column: Column) => sql`${claim}->>${sql.raw(`'${column.name}'`)}`
  return { repeated: moveRanks(db, projectId, from, field), links: upsert(db, projectId, from, field) }
}

type Field = (column: Column) => SQL

/**
 * A newer event of the customer itself that says the same again: the rank moves, because an older event that arrives later
 * with another value must lose. It is a statement of its own because it leaves the indexes alone: SQLite writes the index of
 * every column that is set, even if the value stays the same.
 */
function moveRanks(db: Db, projectId: SQL | Column, from: SQL, field: Field) {
  const key = sql`${projectId} AS project_id, ${field(customer)} AS customer, ${field(vendor)} AS vendor`
  const repeated = sql`(SELECT ${key}, ${field(said)} AS said, max(${field(said_rank)}) AS said_rank ${from}
    GROUP BY 1, 2, 3, 4) r`
  const isOf = sql`${project_id} = r.project_id AND ${customer} = r.customer AND ${vendor} = r.vendor`
  return db
    .update(customerLinks)
    .set({ said_rank: sql`r.said_rank` })
    .from(repeated)
    .where(sql`${isOf} AND ${said} = r.said AND r.said_rank > ${said_rank}`)
}

function upsert(db: Db, projectId: SQL | Column, from: SQL, field: Field): Query<void> {
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
