import { and, eq, isNull, sql } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { changes } from '../changes/schema'
import { batch, type Db } from '../db/client'
import { insertWhere } from '../db/insert-where'
import { changesAfter, numbered } from '../feed/read'
import { resends } from '../followers/schema'
import { invalidField } from '../http/validate'
import { keptWith } from '../idempotency/claim'
import { Fault, notFound, requireFound } from '../lib/fault'
import { newId } from '../lib/ids'
import { findResend, type ResendRow } from './deliveries'
import { endpointEntry, findEndpoint } from './endpoint'
import { getsOf } from './gets'
import { MAX_OPEN_RESENDS } from './limits'
import { readRelayed } from './relayed'
import type { EndpointOf } from './work'

/**
 * Sends one change to an endpoint once more, whether it has taken it or not.
 *
 * @throws {Fault} `not_found` if there is no such endpoint, or the feed has no change with this number that the endpoint gets;
 *   `resend_limit_reached`
 */
export async function resendOne(db: Db, of: EndpointOf, number: number, change: Change): Promise<ResendRow> {
  const { project_id, endpoint_id } = of
  const read = await batch(db, {
    rows: findEndpoint(db, project_id, endpoint_id),
    page: changesAfter(db, project_id, number - 1, 1),
  })
  const endpoint = requireFound(read.rows, 'Webhook endpoint')
  const told = read.page.flatMap(numbered).find((one) => one.number === number)
  const none = { again: [], due: [], failed: [] }
  const gets = endpoint.relay ? (await readRelayed(db, endpoint, { ...read, ...none })).gets : getsOf(endpoint)
  if (!told || !gets(told)) throw notFound('Change', 'of a type that the endpoint gets')
  return resendRange(db, of, { after: number - 1, until: number, types: null, failed_only: false }, change)
}

/** A range of changes by their numbers: the first excluded, the last included. */
export type ResendRange = { after: number; until: number; types: string[] | null; failed_only: boolean }

/**
 * Sends a range of changes to an endpoint once more, or those of it whose attempts have all failed. It costs one row, however many there are.
 *
 * @throws {Fault} `not_found`, `validation_failed`, `resend_limit_reached`
 */
export async function resendRange(db: Db, of: EndpointOf, range: ResendRange, change: Change): Promise<ResendRow> {
  if (range.until <= range.after) throw invalidField('/until', 'out_of_range', 'must be greater than after')
  const { project_id, endpoint_id } = of
  const id = newId('rsd', change.now)
  const r = resends
  const row = { ...of, ...range, id, position: range.after, created_at: change.now, created_by: change.actor.id }
  const isOpen = and(eq(r.project_id, project_id), eq(r.endpoint_id, endpoint_id), isNull(r.finished_at))
  const room = sql`${db.$count(r, isOpen)} < ${MAX_OPEN_RESENDS}`
  const isThere = sql`EXISTS ${findEndpoint(db, project_id, endpoint_id)}`
  const head = sql`coalesce((SELECT max(${changes.seq}) FROM ${changes} WHERE ${changes.project_id} = ${project_id}), 0)`
  const exists = sql`${range.until} <= ${head}`
  const { rows, endpoints } = await batch(db, {
    ...audited(
      db,
      change,
      endpointEntry(project_id, endpoint_id, 'webhook_endpoint.resent', { resend: id, ...range }),
      insertWhere(db, r, row, and(isThere, room, exists)),
    ),
    ...keptWith(db, change, id),
    rows: findResend(db, of, id),
    endpoints: findEndpoint(db, project_id, endpoint_id),
  })
  if (rows[0]) return rows[0]
  const endpoint = requireFound(endpoints, 'Webhook endpoint')
  if (range.until > endpoint.head)
    throw invalidField('/until', 'out_of_range', `must be at most ${endpoint.head}, the newest change`)
  throw new Fault(
    'resend_limit_reached',
    `${MAX_OPEN_RESENDS} ranges or changes are being resent to the endpoint. Wait until one of them is done.`,
  )
}
