import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { StoredBody } from '../../billing/reduce'
import { billingObjects } from '../../billing/schema'
import { areItemsMissing, type Held, type Projection } from '../../billing/store'
import { type Db, raw } from '../../db/client'
import { bare, excluded } from '../../db/sql'
import { vendorOf } from '../../vendors'
import { connections } from '../connections/schema'
import { sourceOfId } from '../sources'
import { vendorKeys } from '../vendor-api/schema'
import { FIRST_ASKED_MS, ITEMS_APART_MS, MAX_ITEMS_ASKED } from './limits'
import { vendorDoubts } from './schema'

/** Whether a row as it is written is in doubt, or a purchase without items, and its vendor can be asked for such an object. */
export function isInDoubt({ key, candidates, ambiguous }: Projection): boolean {
  const [winner] = candidates
  const calls = vendorOf(key.vendor)?.api?.calls
  // A purchase is no object of the vendor's, because several are parts of it. Only what was bought is asked for.
  if (key.kind === 'purchase') return lacksItems(winner?.body) && calls?.ofItems?.(key.vendor_id) != null
  // Nor is a card: payments report it.
  return (ambiguous || winner?.incomplete === true) && key.kind !== 'payment_card' && calls !== undefined
}

/**
 * The statement that has the vendor asked for objects in doubt: a part of the batch that writes them. It returns the projects of those that
 * were noted. None is noted of a vendor for which the project has no API key that works.
 *
 * A delivery that leaves an object in doubt, or brings it into it, begins anew. A fetch does not: otherwise a doubt that the vendor's
 * answer does not end would never end.
 *
 * @param held a row is written only if the worker still holds one of the events that change the object
 */
export function noteDoubts(db: Db, projections: readonly Projection[], held: Held, now: number) {
  const list = JSON.stringify(
    projections.map(({ key, by }) => ({
      ...key,
      by,
      is_told: by.some((id) => sourceOfId(id) === 'delivery') ? 1 : 0,
    })),
  )
  const of = (name: string) => sql.raw(`j.value->>'${name}'`)
  const { project_id, vendor, kind, object_id, due_at, tries } = vendorDoubts
  const isOf = and(
    eq(project_id, of('project_id')),
    eq(vendor, of('vendor')),
    eq(kind, of('kind')),
    eq(object_id, of('vendor_id')),
  )
  const isNew = sql`(${of('is_told')} = 1 OR NOT EXISTS (SELECT 1 FROM ${vendorDoubts} WHERE ${isOf}))`
  return raw(
    db,
    { project_id },
    (fields) => sql`INSERT INTO ${vendorDoubts} (${bare(project_id, vendor, kind, object_id, due_at, tries)})
      SELECT ${of('project_id')}, ${of('vendor')}, ${of('kind')}, ${of('vendor_id')}, ${now + FIRST_ASKED_MS}, 0
      FROM json_each(${list}) j
      WHERE ${hasKey(of('project_id'), of('vendor'))} AND ${isNew} AND ${held(of('project_id'), sql`j.value->'by'`)}
      ON CONFLICT DO UPDATE SET ${bare(due_at)} = min(${due_at}, ${excluded(due_at)}), ${bare(tries)} = 0
      RETURNING ${fields}`,
  )
}

/** Whether nothing says what was bought. Nothing more is asked about a buyer who was erased. */
export function lacksItems(purchase: StoredBody | null | undefined): boolean {
  return purchase?.items_missing === true && purchase.erased !== true
}

/**
 * The statement that has a vendor asked what was bought in the purchases of a project that do not say it: once it has a key. The cron finds
 * them. There are up to {@link MAX_ITEMS_ASKED}, one after the other, so that what comes into doubt meanwhile does not wait for all of them.
 */
export function noteMissingItems(
  db: Db,
  { project_id: projectId, vendor: name }: { project_id: string; vendor: string },
  now: number,
) {
  const { project_id, vendor, kind, object_id, due_at, tries } = vendorDoubts
  const o = billingObjects
  const lacks = and(areItemsMissing, sql`${o.candidates}->>'$[0].body.erased' IS NULL`)
  const own = and(eq(o.project_id, projectId), eq(o.vendor, name), lacks)
  const due = sql`${now + FIRST_ASKED_MS} + ${ITEMS_APART_MS} * row_number() OVER ()`
  return raw(
    db,
    { object_id },
    (fields) => sql`INSERT INTO ${vendorDoubts} (${bare(project_id, vendor, kind, object_id, due_at, tries)})
      SELECT ${o.project_id}, ${o.vendor}, ${o.kind}, ${o.vendor_id}, CAST(${due} AS INTEGER), 0
      FROM ${o} INDEXED BY billing_items_missing WHERE ${own} LIMIT ${MAX_ITEMS_ASKED}
      ON CONFLICT DO UPDATE SET ${bare(due_at)} = min(${due_at}, ${excluded(due_at)}), ${bare(tries)} = 0
      RETURNING ${fields}`,
  )
}

/** Whether a project has a key for the vendor that the vendor has not refused. */
export function hasKey(projectId: SQL, vendor: SQL): SQL {
  const isKey = and(eq(vendorKeys.project_id, projectId), eq(vendorKeys.state, 'ok'))
  const isConnection = and(
    eq(connections.id, vendorKeys.connection_id),
    eq(connections.vendor, vendor),
    eq(connections.status, 'active'),
    isNull(connections.deleted_at),
  )
  return sql`EXISTS (SELECT 1 FROM ${vendorKeys} CROSS JOIN ${connections} ON ${isConnection} WHERE ${isKey})`
}
