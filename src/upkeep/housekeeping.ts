import { purgeKeyDays } from '../api-keys/days'
import { purgeAudit, removeAddresses } from '../audit-log/retention'
import { backUpToBucket } from '../backup/bucket'
import { OBJECTS_A_RUN } from '../backup/limits'
import { addCustomerKeys } from '../billing/customers/named'
import { nextDue } from '../consumers/erasures'
import { addConsumerKeys } from '../consumers/names'
import { purgeGrants, purgeMoves } from '../consumers/retention'
import { batch, run } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import { purgeReleased } from '../domains/release'
import { purgeDeliveries, purgeDeliveryRuns, purgeResends } from '../endpoints/retention'
import type { Runtime } from '../env'
import { purgeChanges } from '../feed/retention'
import { writeLog } from '../http/log'
import { purgeKept } from '../idempotency/retention'
import { periodOf } from '../inbox/archive/age'
import { purgeArchives } from '../inbox/archive/retention'
import { archiveEvents } from '../inbox/archive/store'
import { startBackfills } from '../inbox/backfill/due'
import { purgeRemoved } from '../inbox/diagnoses/removed'
import { purgeDiagnoses } from '../inbox/diagnoses/store'
import { dropFormerIndexes } from '../inbox/fewer-rows'
import { foldMinutes } from '../inbox/fold-minutes'
import { lookAgain } from '../inbox/formats/look'
import { purgeFormats } from '../inbox/formats/store'
import { oldestWeek } from '../inbox/formats/weeks'
import { purgeRuns } from '../inbox/imports/runs'
import { movePayloads } from '../inbox/move-payloads'
import { purgeMutes } from '../inbox/mutes/mutes'
import { packBodies } from '../inbox/pack-bodies'
import { purgeAsks } from '../inbox/refresh/flight'
import { walkRenewals } from '../inbox/renewals/walk'
import { purgeEvents, purgeMinutes, purgePacked, purgePayloads, purgeReplays } from '../inbox/retention'
import { bodies, payloads } from '../inbox/schema'
import { watchConnections } from '../inbox/silence/watch'
import type { Source } from '../inbox/sources'
import { DAY, HOUR } from '../lib/time'
import { purgeNotices } from '../notices/close'
import { purgeSpent } from '../passkeys/passkey'
import { removeHalfMade } from '../projects/half-made'
import { mendMarks } from '../projects/marks'
import { mendSettings } from '../projects/mend-settings'
import { purgeEnded } from '../sessions/session'
import { purgeConnections, purgeIdentities } from '../sso/connections/connection'
import { purgeCodes, purgeLogins } from '../sso/customers/codes'
import { purgeTests } from '../sso/test-runs/test-run'
import { addToState, readState, writeState } from '../stores/state'
import type { PassStep } from '../tenancy/pass'
import { renewKeys } from '../token-keys/renew'
import { type Budget, hasRoom } from './budget'
import { eraseSome } from './erasures'
import { LANES } from './limits'
import { lookAtNotices } from './notices'
import { type Progress, readProgress, writeProgress } from './progress'
import { purgeProjects } from './purge'

/**
 * One step of a task, beginning after the project that it has come to. `failed` is for a project that the step could not do
 * and has passed over.
 */
type Task = (rt: Runtime, progress: Progress, failed: (error: unknown) => void) => Promise<PassStep & Resting>
/** `rests`: the task continues in the next run, even if this one has room. */
type Resting = { rests?: boolean }

/** The task that does not wait for the next hour. */
const ERASURES = 'erasures'

/**
 * While a backup is under way, no payload is packed: the backup may already have its event, with the former id, but not yet its body. No event
 * is archived either: it would be in the backup twice.
 */
const PACKING = 'packed_bodies'
const WAIT_FOR_BACKUP: readonly string[] = [PACKING, 'archive', 'archive_of_fetched']
const BACKUP = 'backup'

/** The tasks of every store. */
const TASKS: Record<string, Task> = {
  payloads: (rt, progress) => purgePayloads(rt.db, bodies, startOf(rt, progress), payloadsBefore(rt)),
  earlier_payloads: (rt, progress) => purgePayloads(rt.db, payloads, startOf(rt, progress), payloadsBefore(rt)),
  moved_payloads: ({ db, now }) => movePayloads(db, now),
  [PACKING]: ({ db, now }, { after }) => packBodies(db, after, now),
  packed_payloads: (rt) => purgePacked(rt.db, payloadsBefore(rt)),
  former_indexes: ({ db, now }) => dropFormerIndexes(db, now),
  name_keys: async ({ db }) => {
    const step = await addConsumerKeys(db)
    return step.done > 0 ? { ...step, after: 'more' } : addCustomerKeys(db)
  },
  records: (rt, progress) => purgeEvents(rt.db, startOf(rt, progress), recordsBefore(rt), 'delivery'),
  fetched_records: (rt, progress) => purgeEvents(rt.db, startOf(rt, progress), recordsBefore(rt), 'fetch'),
  archive: (rt, progress) => archiveIfAsked(rt, progress, 'delivery'),
  archive_of_fetched: (rt, progress) => archiveIfAsked(rt, progress, 'fetch'),
  archived_records: (rt) => purgeArchives(rt.db, recordsBefore(rt)),
  diagnoses: async ({ db, now }) => {
    const purged = await batch(db, {
      past: purgeDiagnoses(db, now, CHUNK_ROWS),
      secrets: purgeRemoved(db, now, CHUNK_ROWS),
      mutes: purgeMutes(db, now, CHUNK_ROWS),
    })
    const counts = Object.values(purged).map(({ length }) => length)
    return { done: counts.reduce((a, b) => a + b), after: counts.includes(CHUNK_ROWS) ? 'more' : null }
  },
  formats: async ({ db, now }, { after }) => {
    const old = await run(db, purgeFormats(db, oldestWeek(now), CHUNK_ROWS))
    if (old.length === CHUNK_ROWS) return { done: old.length, after }
    const step = await lookAgain(db, after, now)
    return { ...step, done: step.done + old.length }
  },
  vendor_asks: ({ db, now }) => purgeAsks(db, now),
  vendor_runs: (rt) => purgeRuns(rt.db, recordsBefore(rt)),
  replays: (rt, progress) => purgeReplays(rt.db, startOf(rt, progress), recordsBefore(rt)),
  grants: (rt, progress) => purgeGrants(rt.db, startOf(rt, progress), recordsBefore(rt)),
  customer_moves: (rt, progress) => purgeMoves(rt.db, startOf(rt, progress), recordsBefore(rt)),
  changes: (rt, progress) => purgeChanges(rt.db, startOf(rt, progress), rt.now),
  delivery_runs: (rt, progress) => purgeDeliveryRuns(rt.db, startOf(rt, progress), rt.now),
  deliveries: (rt, progress) => purgeDeliveries(rt.db, startOf(rt, progress)),
  resends: (rt, progress) => purgeResends(rt.db, startOf(rt, progress), rt.now),
  api_key_days: (rt, progress) => purgeKeyDays(rt.db, startOf(rt, progress), rt.now),
  idempotency: async ({ db, now }) => {
    const done = await purgeKept(db, now, CHUNK_ROWS)
    return { done, after: done === CHUNK_ROWS ? 'more' : null }
  },
  connection_hours: (rt, { after }) => watchConnections(rt.db, after, rt.now),
  backfills: (rt, { after }) => startBackfills(rt, after),
  renewals: (rt, progress) => walkRenewals(rt.db, startOf(rt, progress), rt.now),
  notices: (rt, { after }) => lookAtNotices(rt, after),
  closed_notices: async ({ db, now }) => {
    const { length } = await run(db, purgeNotices(db, now, CHUNK_ROWS))
    return { done: length, after: length === CHUNK_ROWS ? 'more' : null }
  },
  rollups: (rt, progress) => purgeMinutes(rt.db, startOf(rt, progress), recordsBefore(rt)),
  minutes: (rt, progress) => foldMinutes(rt.db, startOf(rt, progress), { now: rt.now, folded: progress.hour * HOUR }),
  // The directory has entries of the projects of all stores.
  audit_log: (rt, { after }) =>
    purgeAudit(
      rt.db,
      { store: rt.store === 0 ? null : rt.store, after },
      rt.now - rt.settings.auditRetentionDays * DAY,
    ),
  purged_projects: (rt, { after }, failed) => purgeProjects(rt, after, failed),
  entitlement_keys: (rt) => renewKeys(rt),
  [BACKUP]: (rt, { after }, failed) =>
    backUpToBucket(rt, after, OBJECTS_A_RUN / Math.min(rt.stores.length, LANES), failed),
  [ERASURES]: (rt, _, failed) => eraseSome(rt, failed),
  // An isolate of the previous deployment may have sealed a secret under an older key since none was found: look again.
  reseal_again: async ({ db }) => {
    await writeState(db, 'sealed_under', 0)
    return { done: 0, after: null }
  },
}

/** An isolate of the previous deployment may write an address during the first pass. The second one is an hour later. */
const ADDRESS_PASSES = 2

/** The tasks of the directory, which is in store 0. */
const OF_DIRECTORY: Record<string, Task> = {
  // With what `accounts` keeps of a sign-in: its log and its known browsers.
  sign_in: async ({ directory, now }) => {
    const gone = [...(await purgeEnded(directory, now, CHUNK_ROWS)), await purgeSpent(directory, now, CHUNK_ROWS)]
    return { done: gone.reduce((a, b) => a + b), after: gone.includes(CHUNK_ROWS) ? 'more' : null }
  },
  sso: async ({ directory, now }) => {
    const gone: number[] = []
    const purges = [purgeCodes, purgeLogins, purgeTests, purgeIdentities, purgeConnections]
    for (const purge of purges) gone.push(await purge(directory, now, CHUNK_ROWS))
    return { done: gone.reduce((a, b) => a + b), after: gone.includes(CHUNK_ROWS) ? 'more' : null }
  },
  released_domains: async ({ directory, now }) => {
    const done = await purgeReleased(directory, now, CHUNK_ROWS)
    return { done, after: done === CHUNK_ROWS ? 'more' : null }
  },
  audited_addresses: async ({ directory }, { after }) => {
    const [passes] = await run(directory, readState(directory, 'address_passes'))
    if ((passes?.value ?? 0) >= ADDRESS_PASSES) return { done: 0, after: null }
    const step = await removeAddresses(directory, after)
    if (step.after === null) await addToState(directory, 'address_passes', 1)
    return step
  },
}

/** The tasks of a store that is not the directory. */
const OF_OTHERS: Record<string, Task> = {
  half_made: (rt, { after }) => removeHalfMade(rt, after),
  project_marks: (rt, { after }) => mendMarks(rt, after),
  project_settings: (rt, { after }) => mendSettings(rt, after),
}

const startOf = ({ store }: Runtime, { after }: Progress) => ({ store, after })

/** A payload does not outlive its record. */
function payloadsBefore({ now, settings }: Runtime): number {
  return now - Math.min(settings.payloadRetentionDays, settings.recordRetentionDays) * DAY
}

/** Whole hours, because old rollups are by the hour: an event and its share of the rollup go together. */
function recordsBefore({ now, settings }: Runtime): number {
  return Math.floor((now - settings.recordRetentionDays * DAY) / HOUR) * HOUR
}

/** A step of the archive. A deployment without the setting has none. */
async function archiveIfAsked(rt: Runtime, progress: Progress, source: Source): Promise<PassStep> {
  const days = rt.settings.archiveAfterDays
  if (days === null) return { done: 0, after: null }
  return archiveEvents(rt.db, startOf(rt, progress), periodOf(rt.now - days * DAY), source)
}

/**
 * Deletes payloads and records of a store past their retention, and folds old rollups. Each task passes over all
 * projects once an hour, in steps. The tasks take turns until they are done or the budget is spent; the next run
 * continues from there. Erasures are looked for in every run. A run in an hour whose passes are done costs one round trip.
 *
 * @param failed is told of a task that failed. The others continue, and the next run tries it again.
 */
export async function housekeep(
  rt: Runtime,
  budget: Budget,
  failed: (task: string, error: unknown) => void,
): Promise<void> {
  const { db, now, store } = rt
  const hour = Math.floor(now / HOUR)
  const tasks = { ...TASKS, ...(store === 0 ? OF_DIRECTORY : OF_OTHERS) }
  const { rows, erasures } = await batch(db, { rows: readProgress(db), erasures: nextDue(db, now) })
  const known = new Map(rows.map((row) => [row.task, row]))
  const progress = Object.keys(tasks).map((task) => known.get(task) ?? { task, hour: 0, after: '' })
  const waits = (task: string) => task === ERASURES && erasures.length > 0
  const due = new Set(progress.filter((row) => row.hour !== hour || row.after !== '' || waits(row.task)))
  const moved = new Set<Progress>()
  const done: Record<string, number> = {}
  while (due.size > 0 && hasRoom(db, budget)) {
    for (const row of due) {
      if (!hasRoom(db, budget)) break
      if (WAIT_FOR_BACKUP.includes(row.task) && progress.some(({ task, after }) => task === BACKUP && after !== '')) {
        due.delete(row)
        continue
      }
      try {
        const result = await (tasks[row.task] as Task)(rt, row, (error) => failed(row.task, error))
        done[row.task] = (done[row.task] ?? 0) + result.done
        moved.add(row)
        row.after = result.after ?? ''
        if (result.after !== null && !result.rests) continue
        if (result.after === null) row.hour = hour
      } catch (error) {
        failed(row.task, error)
      }
      due.delete(row)
    }
  }
  if (moved.size > 0) await writeProgress(db, [...moved])
  const { trips, statements, rows_read, rows_written } = db.meter
  if (moved.size > 0) {
    writeLog('info', 'housekeeping', {
      store,
      ...done,
      left: due.size,
      d1_trips: trips,
      d1_statements: statements,
      rows_read,
      rows_written,
    })
  }
}
