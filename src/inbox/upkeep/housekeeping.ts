import { type Db, run } from '../../db/client'
import { writeLog } from '../../http/log'
import { DAY, HOUR } from '../../lib/time'
import { purgeEnded } from '../../sessions/store'
import { bodies, payloads } from '../schema'
import { type Budget, hasRoom } from './budget'
import { foldMinutes } from './minutes-store'
import { movePayloads } from './moving-store'
import { type Progress, readProgress, type Step, writeProgress } from './progress-store'
import { purgeEvents, purgeMinutes, purgePayloads, purgeReplays } from './retention'
import { writeState } from './store'

/** When a run works (ms), and how long payloads and records are kept (days). */
export type Keeping = { now: number; payloadRetentionDays: number; recordRetentionDays: number }

/** One step of a task, beginning after the project that it has come to. */
type Task = (db: Db, progress: Progress, keeping: Keeping) => Promise<Step>

const TASKS: Record<string, Task> = {
  payloads: (db, { after }, keeping) => purgePayloads(db, bodies, after, payloadsBefore(keeping)),
  earlier_payloads: (db, { after }, keeping) => purgePayloads(db, payloads, after, payloadsBefore(keeping)),
  moved_payloads: (db, _, { now }) => movePayloads(db, now),
  records: (db, { after }, keeping) => purgeEvents(db, after, recordsBefore(keeping)),
  replays: (db, { after }, keeping) => purgeReplays(db, after, recordsBefore(keeping)),
  rollups: (db, { after }, keeping) => purgeMinutes(db, after, recordsBefore(keeping)),
  minutes: (db, { after, hour }, { now }) => foldMinutes(db, after, { now, folded: hour * HOUR }),
  sign_in: async (db, _, { now }) => {
    await purgeEnded(db, now)
    return { done: 0, after: null }
  },
  // An isolate of the previous deployment may have sealed a secret under an older key since none was found: look again.
  reseal_again: async (db) => {
    await writeState(db, 'sealed_under', 0)
    return { done: 0, after: null }
  },
}

/** A payload does not outlive its record. */
function payloadsBefore({ now, payloadRetentionDays, recordRetentionDays }: Keeping): number {
  return now - Math.min(payloadRetentionDays, recordRetentionDays) * DAY
}

/** Whole hours, because old rollups are by the hour: an event and its share of the rollup go together. */
function recordsBefore({ now, recordRetentionDays }: Keeping): number {
  return Math.floor((now - recordRetentionDays * DAY) / HOUR) * HOUR
}

/**
 * Deletes payloads and records past their retention, and folds old rollups. Each task passes over all projects once an
 * hour, in steps. The tasks take turns until they are done or the budget is spent; the next run goes on from there. A run
 * in an hour whose passes are done costs one statement.
 *
 * @param failed is told of a task that failed. The others go on, and the next run tries it again.
 */
export async function housekeep(
  db: Db,
  keeping: Keeping,
  budget: Budget,
  failed: (task: string, error: unknown) => void,
): Promise<void> {
  const hour = Math.floor(keeping.now / HOUR)
  const known = new Map((await run(db, readProgress(db))).map((row) => [row.task, row]))
  const progress = Object.keys(TASKS).map((task) => known.get(task) ?? { task, hour: 0, after: '' })
  const due = new Set(progress.filter((row) => row.hour !== hour || row.after !== ''))
  const moved = new Set<Progress>()
  const done: Record<string, number> = {}
  while (due.size > 0 && hasRoom(db, budget)) {
    for (const row of due) {
      if (!hasRoom(db, budget)) break
      try {
        const result = await (TASKS[row.task] as Task)(db, row, keeping)
        done[row.task] = (done[row.task] ?? 0) + result.done
        moved.add(row)
        row.after = result.after ?? ''
        if (result.after !== null) continue
        row.hour = hour
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
      ...done,
      left: due.size,
      d1_trips: trips,
      d1_statements: statements,
      rows_read,
      rows_written,
    })
  }
}
