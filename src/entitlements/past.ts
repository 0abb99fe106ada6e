import { and, asc, eq, gt, gte, lt, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { auditLog } from '../audit/schema'
import { listFeatures } from '../catalog/features'
import { type MappedPrice, mappedPrices } from '../catalog/plans'
import { planRevisions, plans } from '../catalog/schema'
import type { PlanFeatures } from '../catalog/values'
import { customerMoves } from '../consumers/customers/schema'
import { referenceTo } from '../consumers/guests'
import { MAX_CUSTOMERS } from '../consumers/limits'
import { customersOf } from '../consumers/links'
import { consumerIdOf, findConsumer } from '../consumers/read'
import type { ConsumerRef } from '../consumers/ref'
import { consumerIds } from '../consumers/schema'
import { type Db, raw } from '../db/client'
import { json, literals } from '../db/sql'
import { newestArchived } from '../inbox/archive/age'
import { attempts, events, refs } from '../inbox/schema'
import { isBefore } from '../inbox/sources'
import { summaryIn } from '../inbox/summary'
import { idFloor } from '../lib/ids'
import { iso } from '../lib/time'
import { state } from '../stores/schema'
import { findSettings } from '../tenancy/project'
import { VENDOR_OF_GUESTS } from '../vendors/guest'
import { type HeldKind, holdingsOf } from './holdings'
import { MAX_AUDIT_WALKED, MAX_HISTORY, MAX_LINK_EVENTS } from './limits'
import { grantsOf, numbered } from './read'

const e = alias(events, 'e')
const f = alias(refs, 'f')
const t = alias(attempts, 't')
const a = alias(auditLog, 'a')
const v = alias(planRevisions, 'v')
const i = alias(consumerIds, 'i')
const m = alias(customerMoves, 'm')

/** The statements that read what a consumer has now and what is known of a time (ms). */
export function pastOf(db: Db, projectId: string, ref: ConsumerRef, at: number) {
  const list = sql`${JSON.stringify([ref])}`
  return {
    project: findSettings(db, projectId),
    archived: newestArchived(db, projectId),
    consumer: findConsumer(db, projectId, ref),
    ids: idsOf(db, projectId, ref),
    links: customersOf(db, projectId, ref),
    moves: movesSince(db, projectId, ref, at),
    holdings: holdingsOf(db, projectId, list, { all: true, at: iso(at) }),
    grants: grantsOf(db, projectId, list, { at, whole: true }),
    features: listFeatures(db, projectId),
    plans: plansAt(db, projectId, at),
    refs: mappedPrices(db, projectId),
    changes: changesSince(db, projectId, ref, at),
    state: db.select({ value: state.value }).from(state).where(eq(state.name, 'pins_known_from')),
  }
}

/** The external ids of a consumer. */
function idsOf(db: Db, projectId: string, ref: ConsumerRef) {
  return raw(
    db,
    { external_id: i.external_id, created_at: i.created_at },
    (fields) => sql`SELECT ${fields} FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
      WHERE ${and(eq(i.project_id, projectId), eq(i.consumer_id, consumerIdOf(projectId, ref)))}`,
  )
}

/** A plan as it was. */
export type Document = { key: string; rank: number; features: PlanFeatures; prices: MappedPrice[] }

/** The plans that there were at a time. `document`: as the plan was then; null if it is so still. */
function plansAt(db: Db, projectId: string, at: number) {
  const kept = sql`(SELECT ${v.document} FROM ${planRevisions} ${v} WHERE ${v.project_id} = ${plans.project_id}
    AND ${v.plan_id} = ${plans.id} AND ${v.until} > ${at} ORDER BY ${v.revision} LIMIT 1)`
  const pruned = sql`(SELECT coalesce(min(${v.revision}) > 1 AND min(${v.until}) > ${at}, ${plans.revision} > 1)
    FROM ${planRevisions} ${v} WHERE ${v.project_id} = ${plans.project_id} AND ${v.plan_id} = ${plans.id})`
  const changed = sql`${plans.updated_at} > ${at}`
  return db
    .select({
      id: plans.id,
      key: plans.key,
      rank: plans.rank,
      features: plans.features,
      document: json<Document | null>(sql`CASE WHEN ${changed} THEN ${kept} END`).as('document'),
      /** Whether the revision of that time may be deleted: nothing says when the oldest one that is kept began. */
      pruned: sql<boolean>`${changed} AND ${pruned}`.mapWith(Boolean).as('pruned'),
    })
    .from(plans)
    .where(and(eq(plans.project_id, projectId), lt(plans.id, idFloor('pln', at + 1))))
    .orderBy(asc(plans.id))
}

/** What of the audit log can bear on a consumer's entitlements. */
const OF_PROJECT = [
  'project.settings_changed',
  'feature.updated',
  'feature.deleted',
  'customer.pinned',
  'customer.unpinned',
]
const OF_CONSUMER = ['consumer.blocked', 'consumer.unblocked', 'consumer.merged', 'consumer.erased']

/** The audited changes after a time that bear on a consumer, in their order; and the last one that was walked. */
function changesSince(db: Db, projectId: string, ref: ConsumerRef, at: number) {
  const consumer = consumerIdOf(projectId, ref)
  const bears = sql`(${a.action} IN (${literals(OF_PROJECT)}) OR ${a.action} IN (${literals(OF_CONSUMER)})
    AND (${a.object_id} = ${consumer} OR ${a.details}->>'into' = ${consumer}))`
  const walk = sql`SELECT ${a.id} AS id, ${a.action} AS action, ${a.object_id} AS object_id, ${a.details} AS details, ${bears} AS bears
    FROM ${auditLog} ${a} WHERE ${and(eq(a.project_id, projectId), gte(a.id, idFloor('aud', at + 1)))}
    ORDER BY ${a.id} LIMIT ${MAX_AUDIT_WALKED}`
  const shown = {
    nth: sql<number>`w.nth`,
    id: sql<string>`w.id`,
    bears: sql<boolean>`w.bears`.mapWith(Boolean),
    action: sql<string>`w.action`,
    object_id: sql<string>`w.object_id`,
    details: json<Record<string, unknown> | null>(sql`w.details`),
  }
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${numbered(walk, sql`id`)}) w WHERE w.bears OR w.is_last ORDER BY w.nth`,
  )
}

/**
 * The customers that events linked to an external id of a consumer, or that were pinned to it, and that became another one's after a
 * time, or were pinned or unpinned: up to one more than {@link MAX_CUSTOMERS}.
 */
function movesSince(db: Db, projectId: string, ref: ConsumerRef, at: number) {
  return raw(
    db,
    { vendor: m.vendor, id: m.customer, moved_at: m.moved_at },
    (fields) => sql`SELECT ${fields} FROM (SELECT ${consumerIdOf(projectId, ref)} AS ref UNION ALL
        SELECT ${i.external_id} FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
        WHERE ${i.project_id} = ${projectId} AND ${i.consumer_id} = ${consumerIdOf(projectId, ref)}) own
      CROSS JOIN ${customerMoves} ${m} NOT INDEXED
        ON ${m.project_id} = ${projectId} AND ${m.ref} = own.ref AND ${m.moved_at} > ${at} LIMIT ${MAX_CUSTOMERS + 1}`,
  )
}

/** The events that refer to subscriptions and purchases, up to one more than {@link MAX_HISTORY}, in no order. */
export function holdingEventsOf(db: Db, projectId: string, held: readonly { kind: HeldKind; id: string }[]) {
  const distinct = new Map(held.map(({ kind, id }) => [`${kind} ${id}`, { kind, id }]))
  const walk = sql`SELECT s.value->>'kind' AS kind, s.value->>'id' AS ref, ${f.event_id} AS event_id
    FROM json_each(${JSON.stringify([...distinct.values()])}) s
    CROSS JOIN ${refs} ${f} ON ${f.project_id} = ${projectId} AND ${f.ref} = s.value->>'id' LIMIT ${MAX_HISTORY + 1}`
  const last = sql`(SELECT ${t.finished_at} FROM ${attempts} ${t} WHERE ${t.event_id} = ${e.id} AND ${t.number} = ${e.attempts})`
  const shown = {
    kind: sql<HeldKind>`w.kind`,
    ref: sql<string>`w.ref`,
    id: e.id,
    processed_at: e.processed_at,
    occurred_at: e.occurred_at,
    summary: summaryIn(e),
    again_at: sql<number | null>`CASE WHEN ${e.attempts} > 1 THEN ${last} END`,
  }
  return raw(
    db,
    shown,
    (fields) => sql`SELECT ${fields} FROM (${walk}) w CROSS JOIN ${events} ${e}
      ON ${e.project_id} = ${projectId} AND ${e.id} = w.event_id`,
  )
}

type Linked = { vendor: string; id: string; event_id: string | null }

/** How many events of each of so many customers are looked at. */
export function linkEventsOf(customers: number): number {
  return Math.floor(MAX_LINK_EVENTS / Math.max(customers, 1))
}

/**
 * Of customers that events have linked: whether the event that links them now was processed after a time (`since`), and whether
 * another one had said something of their consumers before (`before`). That is looked for in the oldest events of each customer;
 * `cut`: there are more than were looked at.
 */
export function linkedSince(db: Db, projectId: string, customers: readonly Linked[], at: number) {
  const isClaim = sql`EXISTS (SELECT 1 FROM json_each(${e.summary}, '$.effects') x
    WHERE x.value->>'kind' = 'customer_link' AND x.value->>'id' = s.value->>'id')`
  const most = linkEventsOf(customers.length)
  const first = sql`SELECT ${f.event_id} AS event_id FROM ${refs} ${f}
    WHERE ${and(eq(f.project_id, projectId), sql`${f.ref} = ${referenceTo(sql`s.value->>'vendor'`, sql`s.value->>'id'`)}`)} ORDER BY ${f.event_id}`
  const before = sql`EXISTS (SELECT 1 FROM (${first} LIMIT ${most}) w CROSS JOIN ${events} ${e}
    ON ${e.project_id} = ${projectId} AND ${e.id} = w.event_id WHERE ${e.processed_at} <= ${at} AND ${isClaim})`
  const now = alias(events, 'n')
  return raw(
    db,
    {
      vendor: sql<string>`s.value->>'vendor'`,
      id: sql<string>`s.value->>'id'`,
      before: sql<boolean>`${before}`.mapWith(Boolean),
      cut: sql<boolean>`(SELECT count(*) FROM (${first} LIMIT ${most + 1})) > ${most}`.mapWith(Boolean),
    },
    (fields) => sql`SELECT ${fields} FROM json_each(${JSON.stringify(customers)}) s CROSS JOIN ${events} ${now}
      ON ${and(eq(now.project_id, projectId), sql`${now.id} = s.value->>'event_id'`, gt(now.processed_at, at))}`,
  )
}

/** Finds the customers and guests that an event named before a time. */
export function knownBefore(db: Db, projectId: string, ids: readonly string[], at: number) {
  return raw(
    db,
    { id: sql<string>`s.value` },
    (fields) => sql`SELECT ${fields} FROM json_each(${JSON.stringify(ids)}) s WHERE EXISTS (SELECT 1 FROM ${refs} ${f}
      WHERE ${and(eq(f.project_id, projectId), sql`${f.ref} IN (s.value, ${referenceTo(literals([VENDOR_OF_GUESTS]), sql`s.value`)})`, isBefore(f.event_id, at + 1))})`,
  )
}
