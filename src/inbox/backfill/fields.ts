import { eq } from 'drizzle-orm'
import * as z from 'zod'
import type { Db } from '../../db/client'
import { count, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { DAY, iso, isoDay, isoOrNull } from '../../lib/time'
import { MISSED_DAYS } from './limits'
import { BACKFILL_ERRORS, backfills } from './schema'

/** The progress of a connection's backfill, as the API shows it. */
export const Backfill = named(
  'Backfill',
  z.object({
    checked_until: timestamp
      .nullable()
      .describe('All events before this time are known. Null until the first check has finished.'),
    missed: z
      .record(z.string(), count)
      .describe(
        `How many events were not delivered and were read from the vendor’s list, by day (UTC), in the last ${MISSED_DAYS} days.`,
      ),
    gaps: z
      .array(z.object({ from: timestamp, to: timestamp }))
      .describe('Periods that could not be checked, because the vendor no longer has their events: the latest 20.'),
    error: named('BackfillError', z.enum(BACKFILL_ERRORS))
      .nullable()
      .describe('Why the current check has not finished.'),
  }),
  { checked_until: SAMPLE.time, missed: { '2026-11-21': 3 }, gaps: [], error: null },
)

/** Reads how far a project's connections that have an API key were compared. */
export function listBackfills(db: Db, projectId: string) {
  return db.select().from(backfills).where(eq(backfills.project_id, projectId))
}
type Row = Awaited<ReturnType<typeof listBackfills>>[number]

export function presentBackfill({ checked_until, missed, gaps, error }: Row): z.infer<typeof Backfill> {
  return {
    checked_until: isoOrNull(checked_until),
    missed,
    gaps: gaps.map(({ from, to }) => ({ from: iso(from), to: iso(to) })),
    error,
  }
}

/** How many events were missed on the day (UTC) of a time (ms) and on the day before. */
export function missedLately({ missed }: Pick<Row, 'missed'>, now: number): number {
  const days = [now, now - DAY].map(isoDay)
  return days.reduce((sum, day) => sum + (missed[day] ?? 0), 0)
}
