import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import type { DomainAction } from './entry'
import type { RecordStatus } from './evidence'
import type { DomainNews } from './mails'
import { recordName, recordValue } from './record'
import { resolveText } from './resolve'
import { type Result, writeProof, writeResults } from './result-store'
import type { DomainState } from './schema'
import { isToServe, lookAtHost } from './serving'
import { afterCheck } from './step'
import type { Domain } from './store'
import { tellManagers } from './told'
import { evidenceOf, type Known, knownOf } from './verdict'

/**
 * A result that is not written yet. `losers`: who loses the name to the domain; null if nobody has proven anything. `inUse`:
 * whether another project holds the name and its record is still there.
 */
export type Checked = { result: Result; losers: Domain[] | null; inUse: boolean }

/**
 * Looks a domain up, and its host if it is to serve.
 *
 * @param holders domains of other projects that hold names now
 */
export async function check(rt: Runtime, row: Domain, holders: readonly Domain[]): Promise<Checked> {
  const { now, settings } = rt
  const [told, serving] = await Promise.all([
    resolveText(settings.dnsResolvers, recordName(row.hostname)),
    isToServe(rt, row) ? lookAtHost(rt, row) : null,
  ])
  const known = knownOf(told)
  const evidence = evidenceOf(told, known, recordValue(row.token))
  const rivals = row.state === 'pending' ? holders.filter((holder) => isRival(holder, row)) : []
  const inUse = row.purpose === 'surface' && evidence.status === 'found' && rivals.some((one) => isThere(one, known))
  const counts: RecordStatus = inUse ? 'unreachable' : evidence.status
  const looking = row.purpose === 'surface' && settings.surfaceTarget !== null && serving?.serving !== true
  const standing = afterCheck({ ...standingOf(row), looking }, counts, now)
  const action = actionOf(row.state, standing.state)
  const result = { row, set: { ...standing, ...serving, evidence, checked_at: now }, action }
  const isProof = row.state === 'pending' && standing.state === 'verified'
  return { result, losers: isProof ? rivals.filter((one) => !isThere(one, known)) : null, inUse }
}

/**
 * Writes results: those that take nothing from anybody in one transaction, every proof in one of its own.
 *
 * @returns the domains that were written, and whether another project was found to hold a name just now
 */
export async function settle(rt: Runtime, checked: readonly Checked[], change: Change) {
  const { directory } = rt
  const plain = checked.filter(({ losers }) => losers === null).map(({ result }) => result)
  const rows = await writeResults(directory, plain, change)
  for (const row of rows) {
    const news = newsOf(plain.find(({ row: before }) => before.id === row.id)?.row.state, row.state)
    if (news) tellManagers(rt, news, row)
  }
  let held = false
  for (const { result, losers } of checked) {
    if (losers === null) continue
    const outcome = await writeProof(directory, result, losers, change)
    held ||= outcome === 'held'
    if (typeof outcome === 'string') continue
    rows.push(outcome)
    for (const loser of losers) tellManagers(rt, 'taken_over', loser)
  }
  return { rows, held }
}

/** Whether a domain of another project holds the name. One lookup shows the records of both. */
function isRival(holder: Domain, { project_id, hostname, purpose }: Domain): boolean {
  return holder.project_id !== project_id && holder.hostname === hostname && holder.purpose === purpose
}

function isThere({ token }: Domain, known: Known): boolean {
  return known?.includes(recordValue(token)) ?? false
}

function standingOf(row: Domain) {
  const { state, state_since, absent, absent_since, verified_at, next_check_at, grace_until } = row
  return { state, state_since, absent, absent_since, verified_at, next_check_at, grace_until }
}

function actionOf(before: DomainState, after: DomainState): DomainAction | null {
  if (before === after) return null
  if (after === 'verified') return 'domain.verified'
  return after === 'grace' ? 'domain.record_missing' : 'domain.failed'
}

/** What the project is told of a change of state. A domain that was never verified is not missed. */
function newsOf(before: DomainState | undefined, after: DomainState): DomainNews | null {
  if (before === 'verified' && after === 'grace') return 'record_missing'
  return before === 'grace' && after === 'failed' ? 'failed' : null
}
