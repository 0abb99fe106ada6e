import { type FeedPosition, type NumberedChange, numbered } from '../feed/read'
import { typesNamed } from '../feed/types'
import { type Gets, getsOf } from './gets'
import { MAX_RELAYED_BYTES, PAGE, PAGE_WITH_OBJECTS } from './limits'
import type { Relayed } from './relayed'
import { type Endpoint, type FoundWork, isLost } from './work'

/**
 * Something to send. `next`: the next change of the feed; `again`: one of a range that is resent; `due`: one that has failed before, with
 * the number of its attempts; `gap`: that changes are missing, up to a number.
 */
export type Item =
  | { kind: 'next' | 'again'; change: NumberedChange; tries: 0 }
  | { kind: 'due'; change: NumberedChange; tries: number }
  | { kind: 'gap'; until: FeedPosition; at: number; tries: 0 }

/** What a run sends after one read. */
export type Work = {
  items: Item[]
  /** Where the endpoint is once all changes of the feed among them were sent; the same for the open resend, if there is one. */
  end: number
  resentTo: number
  /** Where the open resend is now. */
  resentFrom: number
  /** Whether it waits: too much is to be sent again, and nothing of it now. */
  waits: boolean
  /** Changes that are due again, and that the feed no longer has, or the endpoint no longer gets. */
  dropped: number[]
}

/**
 * What is to be sent to an endpoint. One that is failing gets a single attempt.
 *
 * @param relayed of a relay: which of the events it sends, and how large they are
 */
export function workOf(endpoint: Endpoint, found: FoundWork, now: number, relayed: Relayed | null = null): Work {
  const { position, state, include_object } = endpoint
  const gets = relayed?.gets ?? getsOf(endpoint)
  const most = include_object ? PAGE_WITH_OBJECTS : PAGE
  const resentFrom = found.resend[0]?.position ?? 0
  const nothing = { end: position, resentTo: resentFrom, resentFrom, waits: false, dropped: [] }
  if (isLost(endpoint, found)) return { ...nothing, items: [gapOf(endpoint, found, now)] }
  const isFull = found.full.length > 0
  const next = chosen(isFull ? [] : found.page, { position, gets, most })
  const again = isFull ? { changes: [], end: resentFrom } : resentOf(found, { position: resentFrom, gets, most })
  // Since the last attempt, somebody who cannot read the old types may have changed the endpoint's types and address.
  const due = found.due.flatMap(({ seq, tries, change }): Item[] =>
    change && gets(change.item) ? [{ kind: 'due', tries, change: { ...change.item, number: seq, at: change.at } }] : [],
  )
  const dropped = found.due.filter(({ change }) => !change || !gets(change.item)).map(({ seq }) => seq)
  const nexts = next.changes.map((change): Item => ({ kind: 'next', change, tries: 0 }))
  const agains = again.changes.map((change): Item => ({ kind: 'again', change, tries: 0 }))
  // A probe takes the next change first: one that cannot be taken, sent again and again, would say nothing of the endpoint.
  const all = state === 'failing' ? [...nexts, ...due, ...agains].slice(0, 1) : [...due, ...nexts, ...agains]
  const items = relayed ? fitting(all, relayed) : all
  const left = (kind: Item['kind'], ofKind: Item[]) => ofKind.length > items.filter((item) => item.kind === kind).length
  return {
    items,
    end: left('next', nexts) ? lastOf(items, 'next', position) : next.end,
    resentTo: left('again', agains) ? lastOf(items, 'again', resentFrom) : again.end,
    resentFrom,
    waits: isFull && items.length === 0,
    dropped,
  }
}

/** The first items, as far as the bytes of their events fit into memory together; at least one. */
function fitting(items: readonly Item[], { bytes }: Relayed): Item[] {
  let sum = 0
  const over = items.findIndex((item, i) => {
    sum += item.kind === 'gap' ? 0 : (bytes(item.change.id) ?? 0)
    return i > 0 && sum > MAX_RELAYED_BYTES
  })
  return over < 0 ? [...items] : items.slice(0, over)
}

/** The changes of the open resend, and the number up to which they are all. */
function resentOf({ resend: [resend], again, failed }: FoundWork, { position, gets, most }: Chosen) {
  if (!resend) return { changes: [], end: position }
  const { until, types, failed_only } = resend
  const named = types && new Set<string>(types.flatMap(typesNamed))
  const isAsked: Gets = (change) => gets(change) && (named?.has(change.type) ?? true)
  if (failed_only) {
    const rows = failed.slice(0, most)
    const changes = rows.flatMap(({ seq, change }) => (change ? [{ ...change.item, number: seq, at: change.at }] : []))
    return { changes: changes.filter(isAsked), end: rows.length < most ? until : (rows.at(-1)?.seq ?? until) }
  }
  const rows = again.filter(({ seq, items }) => seq - items.length < until)
  const { changes, end, rest } = chosen(rows, { position, gets: isAsked, most, until })
  return { changes, end: rest ? until : end }
}

function lastOf(items: readonly Item[], kind: Item['kind'], otherwise: number): number {
  const last = items.findLast((item) => item.kind === kind)
  return last && last.kind !== 'gap' ? last.change.number : otherwise
}

type Chosen = { position: number; gets: Gets; most: number; until?: number }

/**
 * The changes of these rows behind a position that somebody gets.
 *
 * @returns `end`: the number of the last one that was looked at; `rest`: whether the rows end before `until`
 */
function chosen(rows: FoundWork['page'], { position, gets, most, until = Number.MAX_SAFE_INTEGER }: Chosen) {
  const unread = rows.flatMap(numbered).filter(({ number }) => number > position && number <= until)
  const shown = unread.filter(gets)
  const changes = shown.slice(0, most)
  const end = (shown.length > most ? changes : unread).at(-1)?.number ?? position
  return { changes, end, rest: unread.length === 0 }
}

/**
 * Goes on where the feed begins now; after a restore of the database, behind the newest change.
 */
function gapOf({ epoch }: Endpoint, { epoch: [own], head: [head], oldest: [oldest] }: FoundWork, at: number): Item {
  const newest = head?.seq ?? 0
  const until = { epoch: own?.epoch ?? '', number: epoch === own?.epoch ? (oldest?.first ?? newest + 1) - 1 : newest }
  return { kind: 'gap', until, at, tries: 0 }
}
