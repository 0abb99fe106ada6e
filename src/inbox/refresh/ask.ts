import { candidateOf } from '../../billing/apply'
import { readOf } from '../../billing/fetched'
import type { Known } from '../../billing/read/known'
import { utf8 } from '../../lib/crypto'
import { settingsOf } from '../../tenancy/settings'
import type { ObjectsCall } from '../../vendors/calls'
import type { FetchedKind } from '../../vendors/kinds'
import type { Json } from '../../vendors/lib/json'
import { SIGNED_LINKS } from '../../vendors/objects'
import { contentsOf } from '../process/decide'
import { MAX_DELIVERY_BYTES } from '../receive/limits'
import { fetchVendor, ifVendorAnswers, type VendorAnswer } from '../vendor-api/fetch-vendor'
import type { SourceKey } from './keys'
import { ASKED_BYTES, ASKED_WITHIN_MS, MAX_COMPLETED } from './limits'
import { type FetchedRecord, recordOf } from './record'

/**
 * What a vendor's answers hold. `missing`: how many calls have no answer, or not a whole one. `first`: the answer to the first call; null if
 * there is none.
 */
export type Asked = { objects: Fetched[]; answered: number; missing: number; first: VendorAnswer | null }
/** An object of an answer, with its lists completed. */
export type Fetched = {
  kind: FetchedKind
  object: Json
  answer: VendorAnswer
  /** The headers of the call. */
  headers?: Readonly<Record<string, string>> | undefined
  /** As in {@link Read}. */
  cause?: string | null
}

/**
 * Makes calls side by side, and completes the lists inside the objects of the answers.
 *
 * @param until the time (ms) by which all must be answered
 * @param most how long one call may take (ms)
 */
export async function ask(
  key: SourceKey,
  calls: readonly ObjectsCall[],
  until: number,
  most = ASKED_WITHIN_MS,
): Promise<Asked> {
  const answers = await Promise.all(calls.map((call) => answerOf(key, call, until, most)))
  const objects: Fetched[] = []
  let missing = 0
  for (const [i, call] of calls.entries()) {
    const answer = answers[i]
    const found = answer?.outcome === 'ok' && answer.body ? call.objects(answer.body) : null
    if (!answer || !found || found.more) missing += 1
    for (const object of found?.objects ?? [])
      objects.push({ kind: call.kind, object, answer: answer as VendorAnswer, headers: call.headers })
  }
  const first = answers[0] ?? null
  const whole = await completed(key, objects, { until, most: MAX_COMPLETED })
  return withOwners(key, { objects: whole, answered: calls.length - missing, missing, first }, { until, most })
}

/**
 * Adds the customer to each object that does not name it, with one more call. If that call fails, the object is left out and the failed answer is
 * returned: without its customer, the object would be unlinked from its consumer.
 */
async function withOwners(
  key: SourceKey,
  asked: Asked,
  { until, most }: { until: number; most: number },
): Promise<Asked> {
  const { owner } = key.api.calls
  if (!owner) return asked
  const objects: Fetched[] = []
  let { answered, missing, first } = asked
  for (const fetched of asked.objects) {
    const needed = owner(fetched.object)
    const answer = needed && (await answerOf(key, needed.call, until, most))
    const customer = answer?.outcome === 'ok' && answer.body ? needed?.customerIn(answer.body) : null
    if (!needed) objects.push(fetched)
    else if (customer) objects.push({ ...fetched, object: { ...fetched.object, customer } })
    else {
      answered = 0
      missing += 1
      // What is gone is not the object that was asked for.
      first = answer?.outcome === 'gone' ? { ...answer, outcome: 'other' } : answer
    }
  }
  return { objects, answered, missing, first }
}

/** Makes one call. @returns null if there is no answer in time */
export async function answerOf(
  key: SourceKey,
  call: Omit<ObjectsCall, 'kind' | 'objects'>,
  until: number,
  most = ASKED_WITHIN_MS,
): Promise<VendorAnswer | null> {
  const { pattern, ids, query } = call
  const within = Math.min(most, until - Date.now())
  if (within <= 0) return null
  const asked = {
    pattern,
    headers: { ...key.api.calls.headers(key.connection.api_version), ...call.headers },
    ...(ids && { ids }),
    ...(query && { query }),
  }
  const bounds = { within, most: ASKED_BYTES, turn: key.turn }
  return ifVendorAnswers(() => fetchVendor(key.api, key.secret, asked, bounds))
}

/**
 * The objects with whole lists. An object whose list cannot be completed stays as it is, and is marked as incomplete when it is decoded.
 *
 * @param bounds until when (ms) lists are read, and how many of them
 */
export async function completed(
  key: SourceKey,
  objects: readonly Fetched[],
  { until, most }: { until: number; most: number },
): Promise<Fetched[]> {
  let left = most
  return Promise.all(
    objects.map(async (fetched) => {
      let { object } = fetched
      for (const { call, add } of key.api.calls.rest(fetched.kind, object)) {
        if (left-- <= 0) break
        const answer = await answerOf(key, { ...call, ...(fetched.headers && { headers: fetched.headers }) }, until)
        if (answer?.outcome !== 'ok' || !answer.body) continue
        const { objects: rest, more } = call.objects(answer.body)
        const whole = add(rest, more)
        // A larger one could not be read again.
        if (utf8(JSON.stringify(whole)).byteLength <= MAX_DELIVERY_BYTES) object = whole
      }
      return { ...fetched, object }
    }),
  )
}

/** What is known of an object. `rank`: null if it may have come in after the vendor was asked. */
export type ToCompare = Omit<Known, 'rank'> & { rank: string | null }

/**
 * The records of fetched objects that say something new.
 *
 * @param known what decided the state of the objects before the vendor was asked
 * @param readAt when an object was read: as the answer says, by default
 */
export async function news(
  key: SourceKey,
  fetched: readonly Fetched[],
  known: readonly ToCompare[],
  readAt: typeof readOf = readOf,
): Promise<FetchedRecord[]> {
  const records: FetchedRecord[] = []
  for (const { kind, object, answer, cause = null } of fetched) {
    const winner = known.find((one) => one.kind === kind && one.id === object.id)
    const { date, took_ms, started_at } = answer
    const version = key.api.calls.versionOf(object)
    const read = readAt({ date, tookMs: took_ms, startedAt: started_at, version, over: winner?.rank ?? null, cause })
    const record = recordOf(kind, object, read, answer)
    if (!winner || !(await saysTheSame(key, record, winner))) records.push(record)
  }
  return records
}

/** Whether a fetched object says what is known: as the vendor renders it, or at least in everything that we keep of it. */
async function saysTheSame(
  { vendor, connection }: SourceKey,
  { id, object, headers }: FetchedRecord,
  winner: ToCompare,
): Promise<boolean> {
  if (winner.ambiguous) return false
  const { snapshots } = contentsOf(
    { id, vendor, ...connection },
    { text: JSON.stringify(object), headers },
    settingsOf(connection.settings),
  )
  const snapshot = snapshots.find(({ kind, id }) => kind === winner.kind && id === winner.id)
  if (!snapshot) return false
  const { after, body } = await candidateOf({ event_id: id, vendor_event_id: id }, snapshot)
  // The vendor says nothing else about a deleted customer.
  if (body?.status === 'deleted' && winner.body?.status === 'deleted') return true
  return after === winner.after || JSON.stringify(lasting(body)) === JSON.stringify(lasting(winner.body))
}

/** A body without the time of its event, and without links that the vendor signs anew for each answer: digests leave them out too. */
function lasting(body: Known['body']) {
  if (body === null) return null
  const rest = Object.entries(body).filter(([name]) => name !== 'updated_at' && !SIGNED_LINKS.has(name))
  return Object.fromEntries(rest.sort(([a], [b]) => (a < b ? -1 : 1)))
}
