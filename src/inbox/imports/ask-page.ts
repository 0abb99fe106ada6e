import type { ListedKind } from '../../vendors/calls'
import { text } from '../../vendors/lib/json'
import { completed, type Fetched } from '../refresh/ask'
import type { SourceKey } from '../refresh/keys'
import { fetchVendor, type VendorAnswer, VendorCallError } from '../vendor-api/fetch-vendor'
import { COMPLETE_WITHIN_MS, COMPLETED_AT_ONCE, MAX_RETRY_AFTER_MS } from './limits'
import type { KindProgress } from './schema'

/**
 * What the vendor answers for a page. `again`: it failed, and is tried again, after `wait` (ms) if the vendor says so, and with fewer
 * objects if `smaller`. `cursor_gone`: the object after which the page begins is deleted.
 */
export type PageAnswer =
  | { is: 'page'; objects: Fetched[]; last: string | null; more: boolean }
  | { is: 'again'; error: 'rate_limited' | 'vendor_unavailable'; wait: number | null; smaller: boolean }
  | { is: 'cursor_gone' | 'key_refused' | 'permission_missing' | 'refused' }

type Of = { kind: ListedKind; progress: KindProgress; since: number }

/** Asks the vendor for the next page of a kind, with the lists inside its objects completed. */
export async function askForPage(key: SourceKey, { kind, progress, since }: Of): Promise<PageAnswer> {
  const { calls } = key.api
  const list = calls.lists[kind]
  const cursor = progress.cursors[0] ?? null
  const limit = Math.min(progress.limit ?? list.most, list.most)
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
    return { is: 'again', error: 'vendor_unavailable', wait: null, smaller: true }
  }
  if (answer.outcome !== 'ok') return refusalOf(key, answer, cursor)
  const page = answer.body && list.page(answer.body)
  const last = text(page?.objects.at(-1)?.id)
  // It is not a page if it does not say whether there are more, or has no place from which to continue.
  if (!page || (page.more && (last === null || last === cursor))) return unavailable(null)
  const brief = { ...answer, text: '', body: null } // its objects are in memory once
  const objects = page.objects.map((object) => ({ kind: list.kind, object, answer: brief }))
  return { is: 'page', objects: await whole(key, objects), last, more: page.more }
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
  return { is: cursor !== null && api.calls.isCursorGone(status, code) ? 'cursor_gone' : 'refused' }
}

function unavailable(wait: number | null): PageAnswer {
  return { is: 'again', error: 'vendor_unavailable', wait, smaller: false }
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
