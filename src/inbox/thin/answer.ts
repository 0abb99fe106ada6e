import { findKnown, findKnownOf, type Known } from '../../billing/read/known'
import { run } from '../../db/client'
import type { Runtime } from '../../env'
import type { Json } from '../../vendors/lib/json'
import { type Fetched, news, type ToCompare } from '../refresh/ask'
import type { SourceKey } from '../refresh/keys'
import { KNOWN } from '../refresh/limits'
import type { FetchedRecord } from '../refresh/record'
import { askFor, askForFull, type Failed } from './ask-for'
import type { Group } from './named'
import { recordFull } from './record-full'

/**
 * How an event ends. `learned`: the state of its object is, or will be, that of the record or event `from`. `gone`: the vendor does
 * not have the object. `unreached`: the event is to be handed back.
 */
export type End = { as: 'learned'; from: string } | { as: 'gone' } | ({ as: 'failed' } & Failed) | { as: 'unreached' }

/**
 * What the vendor's answer means for the events of a group: how each of them ends, what is to be recorded before that, and which events of
 * the vendor were recorded already.
 */
export type Answer = { group: Group; key: SourceKey | null; ends: End[]; records: FetchedRecord[]; full: string[] }

/**
 * @param known what decided the state of objects before. `until`: the time (ms) by which the vendor must have answered. `failing`: see
 *   `askFor`
 */
export async function answerFor(
  rt: Runtime,
  group: Group,
  { known, until, failing }: { known: readonly Known[]; until: number; failing: Set<string> },
): Promise<Answer> {
  const all = (end: End) => group.namings.map(() => end)
  const listed = group.named.list ? await knownOf(rt, group) : []
  const asked = await askFor(rt, group, until, failing)
  if (asked.as === 'failed' || asked.as === 'unreached') {
    return { group, key: null, ends: all(asked), records: [], full: [] }
  }
  const { kind } = group.named.call
  const own = [...listed, ...known.filter(({ project_id }) => project_id === asked.key.project_id)]
  const winner = own.find((one) => one.kind === kind && one.id === group.named.id)
  if (asked.as === 'found') {
    const compared = group.named.list ? [...own, ...(await notListed(rt, asked.key, asked.objects, own))] : own
    const records = await news(asked.key, asked.objects, compared)
    const isAnswered = (one: ToCompare) => asked.objects.some(({ object }) => object.id === one.id)
    const from = records[0]?.id ?? (group.named.list ? compared.find(isAnswered) : winner)?.event_id
    return { group, key: asked.key, records, ends: all(from ? { as: 'learned', from } : { as: 'gone' }), full: [] }
  }
  const { key, answer } = asked
  const ends: End[] = []
  const full: string[] = []
  const customer = (winner?.body?.customer as string | undefined) ?? null
  let object: Json | null = null
  for (const { named } of group.namings) {
    const found = await askForFull(rt, { row: group.row, key }, named, until)
    if (found === 'none') object ??= named.gone?.(customer) ?? null
    if (found === 'none' || found === 'lost') ends.push({ as: 'gone' })
    else if (found === 'unreached') ends.push({ as: 'unreached' })
    else if ('error' in found) ends.push({ as: 'failed', ...found })
    else {
      const from = await recordFull(rt, key, found)
      if (from) full.push(from)
      ends.push(from ? { as: 'learned', from } : { as: 'unreached' })
    }
  }
  if (!object) return { group, key, ends, records: [], full }
  const records = await news(key, [{ kind, object, answer, cause: group.cause }], own)
  const from = records[0]?.id ?? winner?.event_id
  const known_as: End = from ? { as: 'learned', from } : { as: 'gone' }
  return { group, key, records, full, ends: ends.map((end) => (end.as === 'gone' ? known_as : end)) }
}

/** What is known of all that a customer has, before the vendor is asked for it. */
function knownOf({ db }: Runtime, { row, named }: Group): Promise<Known[]> {
  return run(db, findKnown(db, row.key.project_id, { vendor: row.vendor, id: named.id }, KNOWN))
}

/**
 * What is known of objects of an answer that were not the customer's before. Nobody knows whether the answer contains that, so it does not
 * rank over it.
 */
async function notListed(
  { db }: Runtime,
  { project_id, vendor }: SourceKey,
  objects: readonly Fetched[],
  own: readonly Known[],
) {
  const keys = objects
    .filter(({ object }) => !own.some(({ id }) => id === object.id))
    .map(({ object }) => ({ project_id, kind: 'subscription' as const, vendor_id: String(object.id), vendor }))
  return keys.length === 0 ? [] : (await run(db, findKnownOf(db, keys))).map((one) => ({ ...one, rank: null }))
}
