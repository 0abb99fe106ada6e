import * as z from 'zod'
import { type Db, run } from '../db/client'
import { count } from '../http/fields'
import { MINUTE } from '../lib/time'
import { THRESHOLDS } from './limits'
import { type MinuteRow, readMinutes } from './read'
import { refusedIn, sum } from './window'

/** What came to one connection in the last minutes. */
export const Traffic = z.object({
  accepted: count.describe('Events recorded, repeated ones too.'),
  refused: z.record(z.string(), count).describe('Refused deliveries by cause.'),
})
export type Traffic = z.infer<typeof Traffic>

/** @param rows the rollups of this connection */
export function trafficOf(rows: readonly MinuteRow[]): Traffic {
  return { accepted: sum(rows, 'received') + sum(rows, 'duplicates'), refused: refusedIn(rows) }
}

/** Reads what came to a connection in the last hour. */
export async function readTraffic(db: Db, of: { project_id: string; id: string }, now: number): Promise<Traffic> {
  const to = Math.floor(now / MINUTE) + 1
  return trafficOf(await run(db, readMinutes(db, of.project_id, { from: to - 60, to }, of.id)))
}

/** A connection that takes deliveries, and what came to it. */
type Watched = { name: string; last_5m: Traffic; last_60m: Traffic }

/** For each connection that refused everything that came: a sentence that names it, with the causes. */
export function refusingEverything(connections: readonly Watched[]): string[] {
  const { refused_last_5m, refused_last_60m } = THRESHOLDS.degraded
  return connections.flatMap(({ name, last_5m, last_60m }) => {
    const hour = allRefused(last_60m, refused_last_60m)
    const causes = hour ?? allRefused(last_5m, refused_last_5m)
    if (!causes) return []
    const list = Object.entries(causes).map(([cause, n]) => `${cause} (${n})`)
    const since = hour ? 'hour' : 'five minutes'
    return [`the connection ${name} refused every delivery of the last ${since}: ${list.join(', ')}`]
  })
}

/** Refused deliveries by cause if there are enough and nothing was accepted; else null. */
function allRefused({ accepted, refused }: Traffic, enough: number): Record<string, number> | null {
  const { connection_disabled: _, ...causes } = refused // Its owner wanted those refused.
  const n = Object.values(causes).reduce((total, one) => total + one, 0)
  return accepted === 0 && n >= enough ? causes : null
}
