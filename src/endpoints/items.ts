import { changeId, presentChange } from '../feed/fields'
import { type FeedPosition, type NumberedChange, numbered } from '../feed/read'
import { typesNamed } from '../feed/types'
import { iso } from '../lib/time'
import { PAGE, PAGE_WITH_OBJECTS } from './limits'
import { type Endpoint, type Found, isLost } from './work'

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
  /** Changes that are due again, and that the feed no longer has. */
  expired: number[]
}

/** What is to be sent to an endpoint. One that is failing gets a single attempt. */
export function workOf(endpoint: Endpoint, found: Found, now: number): Work {
  const { position, types, state, include_object } = endpoint
  const named = new Set<string>(types.flatMap(typesNamed))
  const most = include_object ? PAGE_WITH_OBJECTS : PAGE
  const [resend] = found.resend
  const resentFrom = resend?.position ?? 0
  const nothing = { end: position, resentTo: resentFrom, resentFrom, waits: false, expired: [] }
  if (isLost(endpoint, found)) return { ...nothing, items: [gapOf(endpoint, found, now)] }
  const isFull = found.full.length > 0
  const next = chosen(isFull ? [] : found.page, { position, types: named, most })
  const ofResend = new Set(resend?.types ? resend.types.flatMap(typesNamed).filter((type) => named.has(type)) : named)
  const until = resend?.until ?? 0
  const rows = isFull ? [] : found.again.filter(({ seq, items }) => seq - items.length < until)
  const again = chosen(rows, { position: resentFrom, types: ofResend, most, until })
  const due = found.due.flatMap(({ seq, tries, change }): Item[] =>
    change ? [{ kind: 'due', tries, change: { ...change.item, number: seq, at: change.at } }] : [],
  )
  const expired = found.due.filter(({ change }) => !change).map(({ seq }) => seq)
  const resentTo = again.rest && !isFull ? until : again.end
  const nexts = next.changes.map((change): Item => ({ kind: 'next', change, tries: 0 }))
  const agains = again.changes.map((change): Item => ({ kind: 'again', change, tries: 0 }))
  // A probe takes the next change first: one that cannot be taken, sent again and again, would say nothing of the endpoint.
  const items = state === 'failing' ? [...nexts, ...due, ...agains].slice(0, 1) : [...due, ...nexts, ...agains]
  const left = (kind: Item['kind'], all: Item[]) => all.length > items.filter((item) => item.kind === kind).length
  return {
    items,
    end: left('next', nexts) ? lastOf(items, 'next', position) : next.end,
    resentTo: left('again', agains) ? lastOf(items, 'again', resentFrom) : resentTo,
    resentFrom,
    waits: isFull && items.length === 0,
    expired,
  }
}

function lastOf(items: readonly Item[], kind: Item['kind'], otherwise: number): number {
  const last = items.findLast((item) => item.kind === kind)
  return last && last.kind !== 'gap' ? last.change.number : otherwise
}

type Chosen = { position: number; types: ReadonlySet<string>; most: number; until?: number }

/**
 * The changes of these rows behind a position that have one of the types.
 *
 * @returns `end`: the number of the last one that was looked at; `rest`: whether the rows end before `until`
 */
function chosen(rows: Found['page'], { position, types, most, until = Number.MAX_SAFE_INTEGER }: Chosen) {
  const unread = rows.flatMap(numbered).filter(({ number }) => number > position && number <= until)
  const shown = unread.filter(({ type }) => types.has(type))
  const changes = shown.slice(0, most)
  const end = (shown.length > most ? changes : unread).at(-1)?.number ?? position
  return { changes, end, rest: unread.length === 0 }
}

/**
 * Goes on where the feed begins now; after a restore of the database, behind the newest change.
 */
function gapOf({ epoch }: Endpoint, { epoch: [own], head: [head], oldest: [oldest] }: Found, at: number): Item {
  const newest = head?.seq ?? 0
  const until = { epoch: own?.epoch ?? '', number: epoch === own?.epoch ? (oldest?.first ?? newest + 1) - 1 : newest }
  return { kind: 'gap', until, at, tries: 0 }
}

/** The id, type and body of what is sent. @param current the object of the change as it is now, if it is to be sent */
export function messageOf(
  { epoch, position }: Pick<Endpoint, 'epoch' | 'position'>,
  item: Item,
  current: unknown,
): { id: string; number: number; type: string; body: string } {
  if (item.kind === 'gap') {
    const [after, until] = [changeId({ epoch, number: position }), changeId(item.until)]
    const type = 'feed.gap'
    const body = JSON.stringify({ type, timestamp: iso(item.at), data: { after, until } })
    return { id: `gap_${after.slice(4)}_${until.slice(4)}`, number: 0, type, body }
  }
  const data = presentChange(item.change, epoch)
  const whole = current === undefined ? data : { ...data, current }
  const body = JSON.stringify({ type: data.type, timestamp: data.at, data: whole })
  return { id: data.id, number: data.number, type: data.type, body }
}
