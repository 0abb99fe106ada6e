import { and, eq, getTableColumns, inArray, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditedFrom, type Change } from '../audit/store'
import { batch, type Directory, raw } from '../db/client'
import { projects } from '../tenancy/schema'
import { type Domain, detailsOf, domainEntry, findDomain, HELD, isDomain } from './domain'
import { CLAIMED_FOR, DUE_AT_ONCE, DUE_CANDIDATES, DUE_OF_PROJECT, MAX_HOLDERS, VERIFY_EVERY } from './limits'
import { newRecordToken } from './names'
import { domains } from './schema'
import { begun } from './step'

const d = alias(domains, 'd')
const h = alias(domains, 'h')

/**
 * Begins a check by hand: notes its time, unless the last one was a moment ago. A failed domain becomes pending again instead,
 * with a new token.
 *
 * @param mayChangeSso whether the caller may check a domain for single sign-on
 * @returns the domain as it is then; whether it is to be looked up (`claimed`) or was tried again (`retried`); the other
 *   projects that hold its name
 */
export async function claimDomain(
  directory: Directory,
  { project_id, id, mayChangeSso }: { project_id: string; id: string; mayChangeSso: boolean },
  change: Change,
) {
  const { now } = change
  const isOne = and(
    isDomain(project_id, id),
    mayChangeSso ? undefined : eq(domains.purpose, 'surface'),
    or(isNull(domains.checked_at), lte(domains.checked_at, now - VERIFY_EVERY)),
  )
  const hasFailed = and(isOne, eq(domains.state, 'failed')) as SQL
  const again = {
    ...begun(now),
    token: newRecordToken(),
    evidence: null,
    checked_at: null,
    serving: null,
    serving_at: null,
    serving_detail: null,
    version: sql`${domains.version} + 1`,
  }
  return batch(directory, {
    claimed: directory
      .update(domains)
      .set({ checked_at: now })
      .where(and(isOne, inArray(domains.state, ['pending', 'verified', 'grace'])))
      .returning({ id: domains.id }),
    audit: auditedFrom(directory, change, domainEntry(id, 'domain.retried'), {
      taken: { project_id: domains.project_id, details: detailsOf(domains) },
      from: sql`FROM ${domains} WHERE ${hasFailed}`,
    }),
    retried: directory.update(domains).set(again).where(hasFailed).returning({ id: domains.id }),
    rows: findDomain(directory, project_id, id),
    holders: holdersOf(directory, sql`${domains} ${d} WHERE ${d.project_id} = ${project_id} AND ${d.id} = ${id}`),
  })
}

/**
 * Takes domains that are due. The users who created the projects take turns, and so do the projects of a user. The most overdue
 * domain of each comes first.
 * They are due again if this run dies.
 */
export async function claimDue(directory: Directory, now: number): Promise<{ rows: Domain[]; holders: Domain[] }> {
  const until = now + CLAIMED_FOR
  const oldest = sql`(SELECT ${d.project_id}, ${d.id}, ${d.next_check_at} FROM ${domains} ${d} INDEXED BY domains_due
    WHERE ${d.next_check_at} <= ${now} ORDER BY ${d.next_check_at} LIMIT ${DUE_CANDIDATES})`
  const numbered = sql`(SELECT *, row_number() OVER (PARTITION BY project_id ORDER BY next_check_at) AS place FROM ${oldest})`
  const few = sql`(SELECT n.*, coalesce(${projects.created_by}, n.project_id) AS creator
    FROM ${numbered} n LEFT JOIN ${projects} ON ${projects.id} = n.project_id WHERE n.place <= ${DUE_OF_PROJECT})`
  const turns = sql`(SELECT *, row_number() OVER (PARTITION BY creator ORDER BY place, next_check_at) AS turn FROM ${few})`
  const chosen = sql`(SELECT project_id, id FROM ${turns} ORDER BY turn, next_check_at LIMIT ${DUE_AT_ONCE})`
  return batch(directory, {
    rows: directory
      .update(domains)
      .set({ next_check_at: until })
      .where(sql`(${domains.project_id}, ${domains.id}) IN ${chosen}`)
      .returning(),
    holders: holdersOf(
      directory,
      sql`${domains} ${d} INDEXED BY domains_due WHERE ${d.next_check_at} = ${until}`,
      DUE_AT_ONCE * MAX_HOLDERS,
    ),
  })
}

/** Reads the projects that hold the names of pending domains of others. CROSS JOIN keeps the order. */
function holdersOf(directory: Directory, pending: SQL, most = MAX_HOLDERS) {
  return raw(
    directory,
    getTableColumns(h),
    (fields) => sql`SELECT DISTINCT ${fields} FROM (SELECT * FROM ${pending} AND ${d.state} = 'pending') ${d}
      CROSS JOIN ${domains} ${h} INDEXED BY domains_held ON ${h.hostname} = ${d.hostname} AND ${h.purpose} = ${d.purpose}
      AND ${h.state} IN (${HELD}) AND ${h.project_id} <> ${d.project_id} LIMIT ${most}`,
  )
}
