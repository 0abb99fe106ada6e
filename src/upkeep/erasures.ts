import { forgottenEffect } from '../billing/forget'
import { forgetObjects } from '../billing/forget-store'
import type { StoredObjectKey } from '../billing/store'
import { START } from '../consumers/erase'
import { type ErasureRow, moveTo, nextDue, selectCustomers, selectObjectsOf } from '../consumers/erasures'
import { CHUNK_ERASED, IDENTITIES_AFTER } from '../consumers/limits'
import { consumerOf } from '../consumers/links'
import type { ErasureCursor } from '../consumers/schema'
import { batch, run } from '../db/client'
import { CHUNK_ROWS } from '../db/limits'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { identitiesGone } from '../identities/identities'
import { eraseMentions, nextMentions } from '../inbox/archive/erase'
import { deletePayloads, selectEvents } from '../inbox/erase'
import type { DecodedSummary } from '../inbox/summary'
import { idFloor } from '../lib/ids'
import { DAY, MINUTE } from '../lib/time'
import { purgeCodes } from '../sso/customers/codes'
import type { PassStep } from '../tenancy/pass'
import { ERASED_DAYS_BACK } from './limits'

/*
 * What vendors have sent about the customers of erased consumers. The first pass of an erasure goes through the customers, their
 * objects, and the events that refer to them. Then come the identities of single sign-on. Later passes, one a day, delete the
 * payloads of events that have come since.
 * The projection keeps what is about a person out of billing objects by itself: see billing/apply.ts.
 */

/**
 * One step of one erasure that is due: a chunk of rows. Erasures take turns, because a step makes its erasure the last one
 * in the order of `due_at`.
 *
 * @param failed is told of an erasure whose step failed. It is tried again a minute later, and the others continue.
 * @returns `after` is null once none is due
 */
export async function eraseSome(rt: Runtime, failed: (error: unknown) => void): Promise<PassStep> {
  const { db, now } = rt
  const [erasure] = await run(db, nextDue(db, now))
  if (!erasure) return { done: 0, after: null }
  try {
    await advance(rt, erasure)
    return { done: 1, after: '' }
  } catch (error) {
    const { project_id, id } = erasure
    writeLog('error', 'erasure_failed', { project_id, erasure_id: id, error: String(error) })
    failed(error)
    await run(db, moveTo(db, erasure, { cursor: erasure.cursor, due_at: now + MINUTE }))
    return { done: 0, after: '' }
  }
}

async function advance(rt: Runtime, erasure: ErasureRow): Promise<void> {
  const at = erasure.cursor ?? { ...START, phase: erasure.finished_at === null ? 'customers' : 'events' }
  const { finished_at } = erasure
  if (at.consumers && finished_at !== null) return eraseIdentities(rt, erasure, at.consumers, finished_at)
  if (at.phase === 'customers') return eraseCustomers(rt, erasure, at)
  if (at.phase === 'objects') return eraseObjects(rt, erasure, at)
  if (at.phase === 'archive') return eraseArchived(rt, erasure, at)
  return eraseEvents(rt, erasure, at)
}

async function eraseCustomers(rt: Runtime, erasure: ErasureRow, at: ErasureCursor): Promise<void> {
  const { db } = rt
  const rows = await run(db, selectCustomers(db, erasure, at))
  await forgetObjects(
    db,
    rows.map(({ customer, vendor }) => keyOf(erasure, vendor, 'customer', customer)),
    consumerOf,
  )
  await go(rt, erasure, next(at, rows) ?? begin('objects', at))
}

async function eraseObjects(rt: Runtime, erasure: ErasureRow, at: ErasureCursor): Promise<void> {
  const { db } = rt
  const rows = await run(db, selectObjectsOf(db, erasure, at))
  await forgetObjects(
    db,
    rows.flatMap(({ vendor, kind, id }) => withCard(keyOf(erasure, vendor, kind, id))),
    consumerOf,
  )
  await go(rt, erasure, next(at, rows) ?? begin('archive', at))
}

/** The archived events of a chunk of customers, pack by pack: `at.id` is the number of the last one. */
async function eraseArchived(rt: Runtime, erasure: ErasureRow, at: ErasureCursor): Promise<void> {
  const { db } = rt
  const customers = await run(db, selectCustomers(db, erasure, at))
  const found = customers.length === 0 ? null : await nextMentions(db, erasure.project_id, customers, Number(at.id))
  if (!found) return go(rt, erasure, next(at, customers) ?? { ...begin('events', at), left: at.left })
  await forgetObjects(db, touchedBy(erasure, found.mentions), consumerOf)
  const erased = await eraseMentions(db, erasure, found, forgotten)
  await go(rt, erasure, erased ? { ...at, id: String(found.pack.number), left: at.left + erased.left } : at)
}

async function eraseEvents(rt: Runtime, erasure: ErasureRow, at: ErasureCursor): Promise<void> {
  const { db, now, settings } = rt
  const isFirst = erasure.finished_at === null
  // Later passes look for payloads only, and older events have none.
  const since = isFirst ? 0 : now - (settings.payloadRetentionDays + ERASED_DAYS_BACK) * DAY
  const rows = await run(db, selectEvents(db, erasure, at, idFloor('evt', since)))
  const ids = rows.filter(({ blocked }) => !blocked).map(({ id }) => id)
  const left = at.left + rows.length - ids.length
  if (isFirst) {
    await forgetObjects(db, touchedBy(erasure, rows), consumerOf)
  }
  const rewritten = isFirst
    ? rows.flatMap(({ id, attempts, summary }) => {
        const other = summary && forgotten(summary)
        return other ? [{ id, attempts, summary: other }] : []
      })
    : []
  const deleted = deletePayloads(db, erasure, { ids, rewritten })
  const cursor = next({ ...at, left }, rows)
  const then = cursor ? { cursor, due_at: now } : afterPass(erasure, { ...at, left }, now)
  await batch(db, { ...deleted, moved: moveTo(db, erasure, then) })
}

/** After a pass: the next one is a minute later if open events still needed their payloads, else a day later. */
function afterPass({ finished_at }: ErasureRow, { left, consumers }: ErasureCursor, now: number) {
  const again = consumers ? { ...START, consumers } : null
  if (left > 0 && finished_at === null) return { cursor: again, due_at: now + MINUTE }
  if (again) return { cursor: again, due_at: now + IDENTITIES_AFTER, finished_at: now }
  return { cursor: null, due_at: now + DAY, finished_at: finished_at ?? now }
}

/**
 * Deletes the identities of the consumers once more: a sign-in that was under way may have recorded one after the call. Codes
 * from that time have expired. Without customers, nothing is left to do then.
 */
async function eraseIdentities(
  rt: Runtime,
  erasure: ErasureRow,
  consumers: readonly string[],
  finishedAt: number,
): Promise<void> {
  const { db, directory, now } = rt
  await run(directory, identitiesGone(directory, erasure.project_id, consumers))
  await purgeCodes(directory, now, CHUNK_ROWS)
  const customers = await run(db, selectCustomers(db, erasure, START))
  await run(db, moveTo(db, erasure, { cursor: null, due_at: customers.length > 0 ? finishedAt + DAY : null }))
}

/** The first step of a phase. */
function begin(phase: ErasureCursor['phase'], { consumers }: ErasureCursor): ErasureCursor {
  return { ...START, phase, ...(consumers && { consumers }) }
}

/** Where the next step of the phase begins: after the last row. Null if there are no more rows. */
function next(
  at: ErasureCursor,
  rows: readonly { customer: string; vendor: string; kind?: string; id?: string }[],
): ErasureCursor | null {
  const last = rows.at(-1)
  if (!last || rows.length < CHUNK_ERASED) return null
  const { customer, vendor, kind = '', id = '' } = last
  return { ...at, customer, vendor, kind, id }
}

async function go({ db, now }: Runtime, erasure: ErasureRow, cursor: ErasureCursor): Promise<void> {
  await run(db, moveTo(db, erasure, { cursor, due_at: now }))
}

function keyOf(
  { project_id }: ErasureRow,
  vendor: string,
  kind: StoredObjectKey['kind'],
  vendor_id: string,
): StoredObjectKey {
  return { project_id, vendor, kind, vendor_id }
}

/** A payment method has its card in a row of its own, if the vendor's payments report it. */
function withCard(key: StoredObjectKey): StoredObjectKey[] {
  return key.kind === 'payment_method' ? [key, { ...key, kind: 'payment_card' }] : [key]
}

type Mention = { vendor: string; summary: DecodedSummary | null }

/** The billing objects that events changed. */
function touchedBy(erasure: ErasureRow, events: readonly Mention[]): StoredObjectKey[] {
  return events.flatMap(({ vendor, summary }) =>
    (summary?.effects ?? []).flatMap(({ kind, id }) =>
      kind === 'customer_link' || kind === 'checkout' ? [] : [keyOf(erasure, vendor, kind, id)],
    ),
  )
}

/** A summary without what is about a person; null if it has nothing of that kind. */
function forgotten(summary: DecodedSummary): DecodedSummary | null {
  const effects = summary.effects.map(forgottenEffect)
  return JSON.stringify(effects) === JSON.stringify(summary.effects) ? null : { ...summary, effects }
}
