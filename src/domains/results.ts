import { and, eq, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory, type Queries } from '../db/client'
import { refusedNull, refusedTwin } from '../db/refused'
import { type Domain, type DomainAction, detailsOf, domainEntry, isDomain } from './domain'
import { domains } from './schema'
import { type DomainStanding, failed } from './step'

const d = alias(domains, 'd')

/** What a check found out about a domain, and what it makes of it. */
export type CheckResult = {
  row: Domain
  set: DomainStanding & Partial<Pick<Domain, 'evidence' | 'checked_at' | 'serving' | 'serving_at' | 'serving_detail'>>
  /** What the audit log says; null if the state stays. */
  action: DomainAction | null
}

/**
 * Writes results that take nothing from other projects. A result for a domain that has changed meanwhile is dropped.
 *
 * @returns the domains that were written
 */
export async function writeResults(
  directory: Directory,
  results: readonly CheckResult[],
  change: Change,
): Promise<Domain[]> {
  if (results.length === 0) return []
  const statements = results.map((result, i) => {
    const { row, set, action } = result
    const isSame = and(isDomain(row.project_id, row.id), eq(domains.version, row.version))
    const saved = directory
      .update(domains)
      .set({ ...changesOf(row, set), version: row.version + 1 })
      .where(isSame)
      .returning()
    return { ...(action && { [`audit${i}`]: entryFor(directory, result, action, change) }), [`saved${i}`]: saved }
  })
  const written = await batch(directory, Object.assign({}, ...statements) as Queries)
  return results.flatMap((_, i) => written[`saved${i}`] as Domain[])
}

/**
 * Gives a name to the project that has proven it. Those who held it, and whose record is gone, lose it in the same
 * transaction: all of it happens, or nothing.
 *
 * @returns the domain as it is then; `changed`: one of them has changed since it was read; `held`: another project holds the
 *   name
 */
export async function writeProof(
  directory: Directory,
  result: CheckResult,
  losers: readonly Domain[],
  change: Change,
): Promise<Domain | 'changed' | 'held'> {
  const { row, set } = result
  const claimant = sql`EXISTS (SELECT 1 FROM ${domains} ${d} WHERE ${d.project_id} = ${row.project_id}
    AND ${d.id} = ${row.id} AND ${d.version} = ${row.version})`
  const lost = losers.map((loser, i) => ({
    [`audit_lost${i}`]: entryFor(directory, { row: loser }, 'domain.taken_over', change),
    // The fence: NOT NULL refuses the whole batch if either of the two has changed.
    [`lost${i}`]: directory
      .update(domains)
      .set({ ...failed(loser, change.now), ...fence(loser, claimant) })
      .where(isDomain(loser.project_id, loser.id)),
  }))
  try {
    const { proven } = await batch(directory, {
      ...(Object.assign({}, ...lost) as Queries),
      audit: entryFor(directory, result, 'domain.verified', change),
      proven: directory
        .update(domains)
        .set({ ...set, ...fence(row, sql`true`) })
        .where(isDomain(row.project_id, row.id))
        .returning(),
    })
    return proven[0] ?? 'changed'
  } catch (error) {
    if (refusedNull(error, domains.version)) return 'changed'
    if (refusedTwin(error, domains.hostname)) return 'held'
    throw error
  }
}

/** What a result changes. SQLite writes an index anew wherever one of its columns, or one of its condition, is set at all. */
function changesOf(row: Domain, set: CheckResult['set']): Partial<CheckResult['set']> {
  return Object.fromEntries(Object.entries(set).filter(([name, value]) => row[name as keyof Domain] !== value))
}

function fence({ version }: Domain, condition: ReturnType<typeof sql>) {
  return { version: sql`CASE WHEN ${domains.version} = ${version} AND ${condition} THEN ${version + 1} END` }
}

function entryFor(directory: Directory, { row }: Pick<CheckResult, 'row'>, action: DomainAction, change: Change) {
  const from = sql`FROM ${domains} WHERE ${isDomain(row.project_id, row.id)} AND ${eq(domains.version, row.version)}`
  const taken = { project_id: domains.project_id, details: detailsOf(domains) }
  return auditedFrom(directory, change, domainEntry(row.id, action), { taken, from })
}
