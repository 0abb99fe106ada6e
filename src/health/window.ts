import * as z from 'zod'
import { count, named } from '../http/fields'
import { lagPercentiles } from '../inbox/histogram'
import type { MinuteRow } from './read'

const ms = z.number().nullable()

/** What happened to the events received in the last minutes. */
export const Window = named(
  'HealthWindow',
  z.object({
    received: count,
    processed: count.describe('Ignored events are counted apart.'),
    ignored: count,
    failed: count,
    duplicates: count,
    refused: z.record(z.string(), count).describe('Refused deliveries by cause.'),
    p50_ms: ms,
    p95_ms: ms,
    p99_ms: ms,
  }),
)

export function windowOf(rows: readonly MinuteRow[]): z.infer<typeof Window> {
  return {
    received: sum(rows, 'received'),
    processed: sum(rows, 'processed'),
    ignored: sum(rows, 'ignored'),
    failed: sum(rows, 'failed'),
    duplicates: sum(rows, 'duplicates'),
    refused: refusedIn(rows),
    ...lagPercentiles(rows),
  }
}

/** Refused deliveries of the rollups, by cause. */
export function refusedIn(rows: readonly MinuteRow[]): Record<string, number> {
  const refused: Record<string, number> = {}
  for (const row of rows) {
    for (const [cause, n] of Object.entries(row.refused)) refused[cause] = (refused[cause] ?? 0) + n
  }
  return refused
}

type Counts = { [Name in keyof MinuteRow]: MinuteRow[Name] extends number ? Name : never }[keyof MinuteRow]

/** A count of the rollups, added up. */
export function sum(rows: readonly MinuteRow[], name: Counts): number {
  return rows.reduce((total, row) => total + row[name], 0)
}
