import { pooled } from '../../lib/pooled'
import type { ListCall, ListedKind, ObjectsCall, VendorPrice } from '../../vendors/calls'
import type { FetchedKind } from '../../vendors/kinds'
import { type Json, text } from '../../vendors/lib/json'
import { answerOf, completed, type Fetched } from '../refresh/ask'
import type { SourceKey } from '../refresh/keys'
import { CALL_WITHIN_MS, CALLS_AT_ONCE, CALLS_WITHIN_MS } from '../thin/limits'
import { fetchVendor, type VendorAnswer, VendorCallError } from '../vendor-api/fetch-vendor'
import { COMPLETE_WITHIN_MS, COMPLETED_AT_ONCE, MAX_RETRY_AFTER_MS } from './limits'
import type { RunRow } from './runs'
import type { KindProgress } from './schema'

/**
 * What the vendor answers for a page. `again`: it failed, and is tried again, after `wait` (ms) if the vendor says so. `smaller`: it was too
 * large, as the next pages would be. `cursor_gone`: the object after which the page begins is deleted.
 */
export type PageAnswer =
  | Page
  | { is: 'again'; error: 'rate_limited' | 'vendor_unavailable'; wait: number | null; smaller: boolean }
  | { is: 'cursor_gone' | 'key_refused' | 'permission_missing' | 'refused' }

/** `seen`: what the page has of the kind. Prices are no billing state, so they are no objects. */
type Page = {
  is: 'page'
  objects: Fetched[]
  prices: VendorPrice[]
  seen: number
  last: string | null
  more: boolean
}

/** How an import reads a kind; null if the vendor has nothing of that kind. */
export function listOf(
  { api: { imports } }: SourceKey,
  kind: ListedKind,
  { payment_methods }: Pick<RunRow, 'payment_methods'>,
): ListCall | null {
  if (!imports) return null
  return kind === 'payment_methods' ? imports.paymentMethods[payment_methods] : imports.lists[kind]
}

/** `tries`: how often the page has failed. */
type Of = { progress: KindProgress; since: number; tries: number }

/**
 * Asks the vendor for the next page of a kind, with the lists inside its objects completed. After each failure, the same page is asked for
 * with half as many objects: the vendor may take too long for more. The page after it is a whole one again.
 */
export async function askForPage(key: SourceKey, list: ListCall, { progress, since, tries }: Of): Promise<PageAnswer> {
  const { calls, imports } = key.api
  const cursor = progress.cursors[0] ?? null
  const limit = Math.max(1, Math.floor(Math.min(progress.limit ?? list.most, list.most) / 2 ** tries))
  const call = {
    pattern: list.pattern,
    query: list.query({ after: cursor, limit, since }),
    headers: calls.headers(key.connection.api_version),
  }
  let answer: VendorAnswer
  try {
    answer = await fetchVendor(key.api, key.secret, call, { turn: key.turn })
  } catch (error) {
    if (!(error instanceof VendorCallError)) throw error
    return { is: 'again', error: 'vendor_unavailable', wait: null, smaller: error.rule === 'size' }
  }
  if (answer.outcome !== 'ok') return refusalOf(key, answer, cursor)
  const page = answer.body && list.page(answer.body)
  const last = text(page?.objects.at(-1)?.id)
  // It is not a page if it does not say whether there are more, or has no place from which to continue.
  if (!page || (page.more && (last === null || last === cursor))) return unavailable(null)
  const at = { last, more: page.more }
  if (list.kind === null) {
    const prices = page.objects.flatMap((object) => imports?.priceOf(object) ?? [])
    return { is: 'page', objects: [], prices, seen: page.objects.length, ...at }
  }
  const found = await objectsOf(key, list.kind, list, { listed: page.objects, answer })
  if ('is' in found) return found
  const objects = await whole(key, unique(found.objects))
  return { is: 'page', objects, prices: [], seen: objects.length, ...at }
}

/** The objects of a page: the listed ones, the ones inside them, or the ones that a call for each of them reads. */
async function objectsOf(
  key: SourceKey,
  kind: FetchedKind,
  { inside, each }: ListCall,
  { listed, answer }: { listed: Json[]; answer: VendorAnswer },
): Promise<{ objects: Fetched[] } | PageAnswer> {
  if (each)
    return readEach(
      key,
      kind,
      listed.flatMap((one) => each(one) ?? []),
    )
  const all = inside ? listed.flatMap(inside) : listed
  return { objects: all.map((object) => ({ kind, object, answer: brief(answer) })) }
}

/** Makes the calls of a page, a few at once. If one fails, the whole page does. What is gone has nothing. */
async function readEach(
  key: SourceKey,
  kind: FetchedKind,
  calls: readonly ObjectsCall[],
): Promise<{ objects: Fetched[] } | PageAnswer> {
  const until = Date.now() + CALLS_WITHIN_MS
  const objects: Fetched[] = []
  let refusal: PageAnswer | null = null
  await pooled(CALLS_AT_ONCE, calls, async (call) => {
    if (refusal) return
    const answer = await answerOf(key, call, until, CALL_WITHIN_MS)
    if (answer?.outcome === 'gone') return
    if (answer?.outcome !== 'ok' || !answer.body) {
      refusal = answer ? refusalOf(key, answer, null) : UNAVAILABLE
      return
    }
    const read = call.objects(answer.body).objects
    objects.push(...read.map((object) => ({ kind, object, answer: brief(answer) })))
  })
  return refusal ?? { objects }
}

/** An answer without its text: its objects are in memory once. */
const brief = (answer: VendorAnswer) => ({ ...answer, text: '', body: null })

/** Each object once: several subscriptions may be paid in one way. */
function unique(objects: readonly Fetched[]): Fetched[] {
  return [...new Map(objects.map((one) => [one.object.id, one])).values()]
}

function refusalOf(
  { api }: SourceKey,
  { status, outcome, code, retry_after_s }: VendorAnswer,
  cursor: string | null,
): PageAnswer {
  const wait = retry_after_s === null ? null : Math.min(MAX_RETRY_AFTER_MS, retry_after_s * 1000)
  if (status === 429) return { is: 'again', error: 'rate_limited', wait, smaller: false }
  if (outcome === 'failed') return unavailable(wait)
  if (outcome === 'key_refused' || outcome === 'permission_missing') return { is: outcome }
  return { is: cursor !== null && api.imports?.isCursorGone(status, code) ? 'cursor_gone' : 'refused' }
}

const UNAVAILABLE = { is: 'again', error: 'vendor_unavailable', wait: null, smaller: false } as const

function unavailable(wait: number | null): PageAnswer {
  return { ...UNAVAILABLE, wait }
}

/** Completes lists, a few at once. */
async function whole(key: SourceKey, objects: readonly Fetched[]): Promise<Fetched[]> {
  const until = Date.now() + COMPLETE_WITHIN_MS
  const all: Fetched[] = []
  for (let i = 0; i < objects.length; i += COMPLETED_AT_ONCE) {
    const some = objects.slice(i, i + COMPLETED_AT_ONCE)
    all.push(...(await completed(key, some, { until, most: COMPLETED_AT_ONCE })))
  }
  return all
}
