import * as z from 'zod'
import { Effect } from '../../billing/effect'
import { listReferring, type TimelineRow } from '../../billing/store'
import type { Db } from '../../db/client'
import { timestamp } from '../../http/fields'
import type { Kind } from '../../lib/billing-kinds'
import { idTime } from '../../lib/ids'
import { iso } from '../../lib/time'
import { STATUSES } from '../lifecycle'

export const TimelineEntry = z
  .object({
    event_id: z.string(),
    event_type: z.string(),
    occurred_at: z.string().nullable(),
    received_at: timestamp,
    status: z.enum(STATUSES).describe('Of the event.'),
    result: z
      .enum(['applied', 'superseded', 'ambiguous', 'ignored'])
      .nullable()
      .describe('`ignored`: nothing of this type becomes billing state. Null while the event is not processed.'),
    change: Effect.shape.change,
  })
  .meta({ id: 'TimelineEntry' })

/** Events that refer to an object which one page looks at; few of them are of another object. */
const MAX_LOOKED_AT = 1000

/**
 * The events of an object, the latest by the vendor's time first: of the newest received that refer to it, then of those
 * received before them.
 *
 * @param from a `resume` of before; null for the first page
 * @returns `resume`: where to read on; null at the end
 */
export async function readTimeline(
  db: Db,
  projectId: string,
  kind: Kind,
  vendorId: string,
  from: string | null,
  limit: number,
): Promise<{ entries: z.infer<typeof TimelineEntry>[]; resume: string | null }> {
  const [before = '', after] = from?.split(' ') ?? []
  const rows = await listReferring(db, projectId, vendorId, before || null, MAX_LOOKED_AT)
  const entries: z.infer<typeof TimelineEntry>[] = []
  for (const row of rows.slice(rows.findIndex(({ id }) => id === after) + 1)) {
    const entry = entryOf(row, kind, vendorId)
    if (entry && entries.length === limit) return { entries, resume: `${before} ${entries.at(-1)?.event_id}` }
    if (entry) entries.push(entry)
  }
  return { entries, resume: rows.length === MAX_LOOKED_AT ? (rows.map(({ id }) => id).sort()[0] ?? null) : null }
}

/** Null for an event that refers to the object and is of another one. */
function entryOf(row: TimelineRow, kind: Kind, vendorId: string): z.infer<typeof TimelineEntry> | null {
  const effects = row.effects === null ? [] : (JSON.parse(row.effects) as Effect[])
  const effect = effects.find((one) => one.id === vendorId && (one.kind === kind || one.kind === 'payment_card'))
  if (!effect && (effects.length > 0 || row.object_id !== vendorId)) return null
  return {
    event_id: row.id,
    event_type: row.event_type,
    occurred_at: row.occurred_at,
    received_at: iso(idTime(row.id)),
    status: row.status,
    result: effect?.result ?? (row.status === 'ignored' ? 'ignored' : null),
    change: effect?.change ?? null,
  }
}
