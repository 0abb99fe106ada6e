import { and, desc, eq, gt, lt, sql } from 'drizzle-orm'
import * as z from 'zod'
import { Effect } from '../../billing/effect'
import { onInvoice } from '../../billing/purchases/on-invoice'
import type { Db } from '../../db/client'
import { named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import type { ObjectKind } from '../../lib/billing-kinds'
import { idRange, idTime } from '../../lib/ids'
import { iso, isoOrNull } from '../../lib/time'
import { MONEY_ON_INVOICES } from '../../vendors/purchase'
import { BillingEvent, EventStatus } from '../events/present'
import { statusShown } from '../held'
import type { ShownStatus } from '../lifecycle'
import { events, refs } from '../schema'
import { PREFIX_OF, SOURCES, type Source } from '../sources'
import { effectsIn } from '../summary'

/** Events referring to an object that one page of its timeline looks at. A few of them are about another object. */
export const MAX_TIMELINE_LOOKED_AT = 1000

export const TimelineEntry = named(
  'TimelineEntry',
  z.object({
    event_id: z.string(),
    event_type: z.string(),
    occurred_at: z.string().nullable(),
    received_at: timestamp,
    status: EventStatus.describe('The status of the event.'),
    result: named(
      'TimelineResult',
      z.enum(['applied', 'superseded', 'ambiguous', 'fetched', 'gone', 'unplaced', 'ignored']),
    )
      .nullable()
      .describe(
        '`fetched`: the event only names the object. What was fetched is an entry of its own. `ignored`: events of this type do not change billing state. Null until the event has been processed.',
      ),
    change: Effect.shape.change,
    differing_deliveries: BillingEvent.shape.differing_deliveries,
    last_differing_at: BillingEvent.shape.last_differing_at,
  }),
  {
    event_id: SAMPLE.event,
    event_type: 'customer.subscription.updated',
    occurred_at: '2026-11-21T08:46:58Z',
    received_at: SAMPLE.time,
    status: 'processed',
    result: 'applied',
    change: { status: { from: 'trialing', to: 'active' } },
    differing_deliveries: 0,
    last_differing_at: null,
  },
)
export type TimelineEntry = z.infer<typeof TimelineEntry>

/**
 * A page of an object's timeline as it is asked for: what to give `listReferring`, and the entries that its rows make.
 * Rows are the most recently received events that refer to the object; they are ordered by the vendor's time.
 *
 * @param from the `resume` of the page before; null for the first page
 */
export function timelineOf(object: { kind: ObjectKind; id: string }, from: string | null, limit: number) {
  const [before, after] = from?.split(' ') ?? []
  return {
    before: before || null,
    take: MAX_TIMELINE_LOOKED_AT,
    /** `resume`: where the next page starts; null at the end. */
    page(read: readonly TimelineRow[]): { entries: TimelineEntry[]; resume: string | null } {
      const last = lastOf(read)
      const rows = read.filter(({ id }) => last === null || timeOf(id) >= timeOf(last))
      const entries: TimelineEntry[] = []
      for (const row of rows.slice(rows.findIndex(({ id }) => id === after) + 1)) {
        const entry = entryOf(row, object)
        if (entry && entries.length === limit) {
          return { entries, resume: `${before ?? ''} ${entries.at(-1)?.event_id}` }
        }
        if (entry) entries.push(entry)
      }
      return {
        entries,
        resume: last,
      }
    },
  }
}

/** An id without its prefix: it sorts by time, whatever the prefix. */
export const timeOf = (id: string) => id.slice(3)

/** The last of the newest {@link MAX_TIMELINE_LOOKED_AT} rows, of all sources together; null if there are fewer. */
function lastOf(rows: readonly TimelineRow[]): string | null {
  const ids = rows.map(({ id }) => id).sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))
  return ids[MAX_TIMELINE_LOOKED_AT - 1] ?? null
}

/** Null for an event that refers to the object but is about another one. */
export function entryOf(row: TimelineRow, { kind, id }: { kind: ObjectKind; id: string }): TimelineEntry | null {
  const effects = row.effects ?? []
  const of = (one: Effect['kind']) => effects.find((effect) => effect.id === id && effect.kind === one)
  const money = kind === 'invoice' && MONEY_ON_INVOICES.includes(row.vendor ?? '') ? of('purchase') : undefined
  const effect = of(kind) ?? of('payment_card') ?? (money && onInvoice(money))
  if (!effect && (effects.length > 0 || row.object_id !== id)) return null
  return {
    event_id: row.id,
    event_type: row.event_type,
    occurred_at: row.occurred_at,
    received_at: iso(idTime(row.id)),
    status: row.status,
    result: effect?.result ?? (row.status === 'ignored' ? 'ignored' : null),
    change: effect?.change ?? null,
    differing_deliveries: row.differing,
    last_differing_at: isoOrNull(row.last_differing_at),
  }
}

/**
 * Reads the `take` most recently received events, and as many fetches, that refer to a vendor's object, the latest by the vendor's time
 * first.
 *
 * @param before the event to read on from, by time of receipt; null for the newest
 */
export function listReferring(
  db: Db,
  projectId: string,
  vendorId: string,
  { before, take }: { before: string | null; take: number },
) {
  const newestOf = (source: Source) => {
    const { above, below } = idRange(PREFIX_OF[source], null, null)
    const until = before === null ? below : PREFIX_OF[source] + before.slice(PREFIX_OF[source].length)
    const range = and(gt(refs.event_id, above), lt(refs.event_id, until))
    const ofObject = and(eq(refs.project_id, projectId), eq(refs.ref, vendorId))
    return sql`SELECT * FROM (SELECT ${refs.event_id} FROM ${refs} WHERE ${and(ofObject, range)}
      ORDER BY ${refs.event_id} DESC LIMIT ${take})`
  }
  const each = sql.join(SOURCES.map(newestOf), sql` UNION ALL `)
  const newest = sql`(${each}) newest`
  return (
    db
      .select({
        id: events.id,
        event_type: events.event_type,
        occurred_at: events.occurred_at,
        status: sql<ShownStatus>`${statusShown(events)}`.as('status'),
        differing: events.differing,
        last_differing_at: events.last_differing_at,
        /** What the event is about, by its summary; null while it is not processed. */
        object_id: sql<string | null>`${events.summary}->>'$.object.id'`.as('object_id'),
        vendor: sql<string | null>`${events.summary}->>'$.vendor'`.as('vendor'),
        effects: effectsIn(events).as('effects'),
      })
      .from(newest)
      .crossJoin(events)
      .where(and(eq(events.project_id, projectId), eq(events.id, sql`newest.event_id`)))
      // Without its `Z`, a time sorts correctly as text, however many digits it has.
      .orderBy(desc(sql`rtrim(${events.occurred_at}, 'Z')`), desc(sql`substr(${events.id}, 4)`))
  )
}
export type TimelineRow = Awaited<ReturnType<typeof listReferring>>[number]
