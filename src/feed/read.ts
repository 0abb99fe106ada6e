import { and, asc, desc, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { changes, changesEpoch, type StoredChange } from '../changes/schema'
import { batch, type Db, type Queries, type Results, raw } from '../db/client'
import { fitsPage } from '../db/sql'
import { Fault } from '../lib/fault'
import { MAX_BYTES_LOOKED_AT, MAX_ROWS_LOOKED_AT } from './limits'

const c = alias(changes, 'c')

/** A change with its number in the project and its time (ms). */
export type NumberedChange = StoredChange & { number: number; at: number }

/** A position in a feed: the number of the last change that was read, and the prefix of the ids under which it has that number. */
export type FeedPosition = { epoch: string; number: number }

/** Which changes to read. */
export type AskedChanges = {
  /** Null: from the oldest that is kept. `latest`: none yet, only the position to go on from. */
  after: FeedPosition | 'latest' | null
  limit: number
  /** Which types to show. */
  shows: (change: StoredChange) => boolean
  /** Whether `shows` leaves any out: then a page looks at more rows than it may show. */
  filtered: boolean
}

/** A page of a feed. `next`: the position after it, past all changes that it has looked at. */
export type ChangesRead = { data: NumberedChange[]; next: FeedPosition; has_more: boolean }

/** The statements that read a page: see {@link changesPage}. */
export function selectChanges(db: Db, projectId: string, { after, limit, filtered }: Omit<AskedChanges, 'shows'>) {
  const from = after === null || after === 'latest' ? 0 : after.number
  const most = after === 'latest' ? 0 : rowsFor(limit, filtered)
  const isOf = eq(changes.project_id, projectId)
  return {
    epoch: db.select().from(changesEpoch),
    head: db.select({ seq: changes.seq }).from(changes).where(isOf).orderBy(desc(changes.seq)).limit(1),
    oldest: oldestChange(db, projectId),
    rows: changesAfter(db, projectId, from, most),
  } satisfies Queries
}

/** Reads rows of changes behind a position, oldest first: at most so many, as far as their bytes fit on a page. */
export function changesAfter(db: Db, projectId: string, position: SQL | number, most: SQL | number) {
  return rowsOf(db, sql`${c.project_id} = ${projectId} AND ${c.seq} > ${position}`, sql`seq`, most)
}

/**
 * The page that these rows make.
 *
 * @throws {Fault} `cursor_expired` if the position has another prefix, is ahead of the newest change, or changes after it are
 *   no longer kept
 */
export function changesPage(
  { epoch: [row], head: [head], oldest: [oldest], rows }: Results<ReturnType<typeof selectChanges>>,
  { after, limit, shows }: AskedChanges,
): ChangesRead {
  const epoch = row?.epoch ?? ''
  const newest = head?.seq ?? 0
  const first = oldest?.first ?? 1
  if (after === 'latest') return { data: [], next: { epoch, number: newest }, has_more: false }
  const from = after?.number ?? first - 1
  if (after && (after.epoch !== epoch || from > newest || from < first - 1)) throw expired()
  const unread = rows.flatMap(numbered).filter(({ number }) => number > from)
  const shown = unread.filter(shows)
  const data = shown.slice(0, limit)
  const number = (shown.length > limit ? data.at(-1) : unread.at(-1))?.number ?? from
  return { data, next: { epoch, number }, has_more: number < newest }
}

function expired(): Fault {
  return new Fault(
    'cursor_expired',
    'This position is no longer valid: changes after it were deleted, it is ahead of the feed, or a database was restored. Get a new position with after=latest, read the lists again, and then follow the changes after that position.',
  )
}

/** What the console asks for: changes in an order, from the beginning or after a number. */
type AskedInOrder = Pick<AskedChanges, 'limit' | 'shows' | 'filtered'> & { order: 'asc' | 'desc'; from: number | null }

/**
 * Reads changes of a project, newest first or oldest first. A page may end within the row of a transaction, where the next one goes on.
 *
 * @returns `next`: the number that the next page comes after; null if there is none. `kept`: how many changes there are, of all types
 */
export async function changesInOrder(db: Db, projectId: string, { order, from, limit, shows, filtered }: AskedInOrder) {
  const isUp = order === 'asc'
  const isLeft = (number: number) => from === null || (isUp ? number > from : number < from)
  // Rows have the numbers of their last changes.
  const rowOfNext = sql`(SELECT min(${changes.seq}) FROM ${changes} WHERE ${changes.project_id} = ${projectId} AND ${changes.seq} >= ${from} - 1)`
  const rowsLeft = from === null ? undefined : isUp ? gt(c.seq, from) : lte(c.seq, rowOfNext)
  const range = and(eq(c.project_id, projectId), rowsLeft)
  const { rows, kept, epoch } = await batch(db, {
    epoch: db.select().from(changesEpoch),
    rows: rowsOf(db, range, isUp ? sql`seq` : sql`seq DESC`, rowsFor(limit, filtered)),
    kept: keptChanges(db, projectId),
  })
  const data: NumberedChange[] = []
  let reached: number | null = null
  for (const row of rows) {
    if (data.length >= limit) break
    const shown = numbered(row).filter((change) => isLeft(change.number) && shows(change))
    data.push(...(isUp ? shown : shown.reverse()))
    reached = isUp ? row.seq : row.seq - row.items.length + 1
  }
  if (data.length > limit) reached = data[limit - 1]?.number ?? null
  const first = kept[0]?.first ?? 1
  const last = kept[0]?.last ?? 0
  const isEnd = reached === null || (isUp ? reached >= last : reached <= first)
  return {
    data: data.slice(0, limit),
    next: isEnd ? null : reached,
    kept: last - first + 1,
    epoch: epoch[0]?.epoch ?? '',
  }
}

/** Reads the change with this number, if it is kept, and the prefix of its id. */
export async function readChange(db: Db, projectId: string, number: number) {
  const { rows, epoch } = await batch(db, {
    rows: changesAfter(db, projectId, number - 1, 1),
    epoch: db.select().from(changesEpoch),
  })
  const found = rows.flatMap(numbered).find((one) => one.number === number)
  return found ? { change: found, epoch: epoch[0]?.epoch ?? '' } : null
}

const SHOWN = { seq: changes.seq, at: changes.at, items: changes.items }

/** How many rows a page looks at: each has one change at least. */
function rowsFor(limit: number, filtered: boolean): number {
  return filtered ? MAX_ROWS_LOOKED_AT : Math.min(limit + 1, MAX_ROWS_LOOKED_AT)
}

/** The first so many rows in an order, as far as their bytes fit on a page. */
function rowsOf(db: Db, range: SQL | undefined, order: SQL, most: SQL | number) {
  const fits = fitsPage(sql`octet_length(${c.items})`, MAX_BYTES_LOOKED_AT, order)
  const found = sql`SELECT ${c.seq}, ${c.at}, ${c.items}, ${fits} AS fits
    FROM ${changes} ${c} WHERE ${range} ORDER BY ${order} LIMIT ${most}`
  return raw(db, SHOWN, (fields) => sql`SELECT ${fields} FROM (${found}) ${changes} WHERE fits ORDER BY ${order}`)
}

/** Reads the numbers of the oldest and the newest change that are kept; null if there are none. */
function keptChanges(db: Db, projectId: string) {
  const ofProject = sql`FROM ${changes} WHERE ${changes.project_id} = ${projectId} ORDER BY ${changes.seq}`
  const shown = {
    first: sql<number | null>`(SELECT ${FIRST} ${ofProject} LIMIT 1)`.as('first'),
    last: sql<number | null>`(SELECT ${changes.seq} ${ofProject} DESC LIMIT 1)`.as('last'),
  }
  return raw(db, shown, (fields) => sql`SELECT ${fields}`)
}

/** The number of the first change of a row. */
const FIRST = sql<number>`${changes.seq} - json_array_length(${changes.items}) + 1`

/** Reads the number of the oldest change that is kept. */
export function oldestChange(db: Db, projectId: string) {
  return db
    .select({ first: FIRST.as('first') })
    .from(changes)
    .where(eq(changes.project_id, projectId))
    .orderBy(asc(changes.seq))
    .limit(1)
}

/** The changes of a row. */
export function numbered({ seq, at, items }: Omit<typeof changes.$inferSelect, 'project_id'>): NumberedChange[] {
  return items.map((item, i) => ({ ...item, number: seq - items.length + 1 + i, at }))
}
