import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import { newId } from '../lib/ids'
import { claimDue } from './claim'
import type { Domain, DomainAction } from './domain'
import { evidenceOf, type KnownValues, knownOf } from './evidence'
import { LOOKUPS_AT_ONCE, RUN_FOR } from './limits'
import { recordName, recordValue } from './names'
import { resolveText } from './resolve'
import { type CheckResult, writeProof, writeResults } from './results'
import type { DomainState, RecordStatus } from './schema'
import { isToServe, lookAtHost } from './serving'
import { afterCheck } from './step'
import type { DomainNews } from './tell'
import { tellManagers } from './tell'

/**
 * A result that is not written yet. `losers`: who loses the name to the domain; null if nobody has proven anything. `inUse`:
 * whether another project holds the name and its record is still there.
 */
export type CheckedDomain = { result: CheckResult; losers: Domain[] | null; inUse: boolean }

/**
 * Looks a domain up, and its host if it is to serve.
 *
 * @param holders domains of other projects that hold names now
 */
export async function check(rt: Runtime, row: Domain, holders: readonly Domain[]): Promise<CheckedDomain> {
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
export async function writeChecked(rt: Runtime, checked: readonly CheckedDomain[], change: Change) {
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

function isThere({ token }: Domain, known: KnownValues): boolean {
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

/**
 * Checks the domains that are due: a few in each run. One that fails, or for which no time is left, is due again a few
 * minutes later.
 *
 * @param failed is told of a look-up that failed
 */
export async function checkDue(rt: Runtime, failed: (error: unknown) => void): Promise<void> {
  const { directory, now } = rt
  const { rows, holders } = await claimDue(directory, now)
  if (rows.length === 0) return
  const until = Date.now() + RUN_FOR
  const left = [...rows]
  const checked: CheckedDomain[] = []
  const lane = async () => {
    for (let row = left.shift(); row && Date.now() < until; row = left.shift()) {
      await check(rt, row, holders).then((one) => checked.push(one), failed)
    }
  }
  await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, lane))
  const by = { type: 'system', id: 'cron' } as const
  await writeChecked(rt, checked, { actor: by, request_id: newId('req', now), now })
}
