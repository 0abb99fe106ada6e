import { desc, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Db, Queries, Results, Send } from '../../db/client'
import type { ObjectKind } from '../../lib/billing-kinds'
import { isArchived, type Pack, packsWith, readPacks } from '../archive/find'
import { PACKS_A_PAGE } from '../archive/limits'
import { type EventRecord, refsOf, summaryOf } from '../archive/records'
import { archives } from '../archive/schema'
import { entryOf, listReferring, type TimelineEntry, type TimelineRow, timelineOf, timeOf } from './timeline'

/*
 * The timeline of an object: first from the events, then from the archive, pack by pack. A position in the archive begins with a word that no
 * id has.
 */

const ARCHIVE = 'archive'
/** After all positions. */
const END = String(Number.MAX_SAFE_INTEGER)
const a = alias(archives, 'a')

type Timed = { kind: ObjectKind; id: string }
/** A page of a timeline. `resume`: where the next page starts; null at the end. */
export type TimelinePage = { entries: TimelineEntry[]; resume: string | null }

/**
 * Reads a page of an object's timeline: the events that it still has among the others, and then archived ones.
 *
 * @param send sends the first statements: `batch`, or a route's `read`. `more`: other statements for the same trip
 * @param asked.from the `resume` of the page before; null for the first page
 */
export async function readTimeline<Q extends Queries>(
  { db, send, project }: { db: Db; send: Send; project: string },
  object: Timed,
  { from, limit }: { from: string | null; limit: number },
  more: Q,
): Promise<{ page: TimelinePage; found: Results<Q> }> {
  if (from?.startsWith(ARCHIVE)) {
    const found = await send(more)
    return { page: await readArchivedPart(db, project, object, { from, limit }), found }
  }
  const timeline = timelineOf(object, from, limit)
  const reads = {
    rows: listReferring(db, project, object.id, timeline),
    archived: isArchived(db, project, object.id),
  }
  const found = await send({ ...more, ...reads })
  const { rows, archived } = found as unknown as Results<typeof reads>
  const page = timeline.page(rows)
  if (page.resume !== null || archived.length === 0) return { page, found }
  const room = limit - page.entries.length
  if (room === 0) return { page: { ...page, resume: ARCHIVE }, found }
  const rest = await readArchivedPart(db, project, object, { from: ARCHIVE, limit: room })
  return { page: { entries: [...page.entries, ...rest.entries], resume: rest.resume }, found }
}

/** A page from the archive, the packs with the newest events first. @param from `archive`, then the last pack and the last entry, if any */
async function readArchivedPart(
  db: Db,
  project: string,
  object: Timed,
  { from, limit }: { from: string; limit: number },
): Promise<TimelinePage> {
  const [, last = END, number = END, after] = from.split(' ')
  const at = sql`(CAST(${last} AS INTEGER), CAST(${number} AS INTEGER))`
  const place = sql`(${a.last_at}, ${a.number})`
  const packs = await readPacks(
    db,
    sql`${packsWith(project, [object.id])} WHERE ${after ? sql`${place} <= ${at}` : sql`${place} < ${at}`}
      ORDER BY ${desc(a.last_at)}, ${desc(a.number)} LIMIT ${PACKS_A_PAGE}`,
  )
  const entries: TimelineEntry[] = []
  for (const pack of packs) {
    const own = entriesIn(pack, project, object)
    const start = pack === packs[0] && after ? own.findIndex(({ event_id }) => event_id === after) + 1 : 0
    for (const entry of own.slice(start)) {
      if (entries.length === limit) return { entries, resume: placeAfter(pack, entries, own) }
      entries.push(entry)
    }
  }
  const end = packs.at(-1)
  return { entries, resume: end && packs.length === PACKS_A_PAGE ? positionOf(end) : null }
}

const positionOf = ({ last_at, number }: Pack) => `${ARCHIVE} ${last_at} ${number}`

/** Where the next page begins if this one ended within a pack, or just before it. */
function placeAfter(pack: Pack, entries: readonly TimelineEntry[], own: readonly TimelineEntry[]): string {
  const last = entries.at(-1)
  return last && own.includes(last)
    ? `${positionOf(pack)} ${last.event_id}`
    : `${ARCHIVE} ${pack.last_at} ${pack.number + 1}`
}

/** The entries of a pack, the latest by the vendor's time first. */
function entriesIn({ records }: Pack, project: string, object: Timed): TimelineEntry[] {
  const mentions = records.filter((one) => one.project_id === project && refsOf(one).includes(object.id))
  const time = ({ occurred_at }: EventRecord) => occurred_at?.replace(/Z$/, '') ?? ''
  const isBefore = (one: EventRecord, other: EventRecord) =>
    time(one) === time(other) ? timeOf(one.id) < timeOf(other.id) : time(one) < time(other)
  return mentions
    .toSorted((one, other) => (isBefore(one, other) ? 1 : -1))
    .flatMap((record) => entryOf(rowOf(record), object) ?? [])
}

function rowOf(record: EventRecord): TimelineRow {
  const { id, event_type, occurred_at, status, differing, last_differing_at } = record
  const { object, vendor = null, effects = null } = summaryOf(record) ?? {}
  return {
    id,
    event_type,
    occurred_at,
    status,
    differing,
    last_differing_at,
    object_id: object?.id ?? null,
    vendor,
    effects,
  }
}
