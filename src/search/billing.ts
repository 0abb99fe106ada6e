import { and, eq, inArray, sql } from 'drizzle-orm'
import { billingObjects } from '../billing/schema'
import { customerLinks, ERASED_PINS } from '../consumers/schema'
import type { Db } from '../db/client'
import { connections } from '../inbox/connections/schema'
import { events, refs, replays } from '../inbox/schema'
import { MOST_OF_A_TYPE } from './limits'
import { begins, byId, NOTHING, type Source } from './source'

/** The fewest characters of a vendor's id: with fewer, what is found says nothing. */
const FEWEST = 3
const scope = 'billing:read' as const

const eventFields = { id: events.id, title: events.event_type, detail: sql<string>`${events.status}`, vendor: NOTHING }
const event = { type: 'event', scope } as const

/** Events by their id, by the vendor's id, and by the id of an object that they are about, newest first. */
const EVENTS: Source<Db>[] = [
  {
    ...event,
    find: (db, project, typed) =>
      byId(typed, 'evt', () =>
        db
          .select(eventFields)
          .from(events)
          .where(and(eq(events.project_id, project), eq(events.id, typed.text))),
      ),
  },
  {
    ...event,
    find: (db, project, { text }) => {
      const own = db.select({ id: connections.id }).from(connections).where(eq(connections.project_id, project))
      return db
        .select(eventFields)
        .from(events)
        .where(and(inArray(events.connection_id, own), eq(events.vendor_event_id, text)))
        .limit(MOST_OF_A_TYPE)
    },
  },
  {
    ...event,
    find: (db, project, { text }) =>
      db
        .select(eventFields)
        .from(refs)
        .innerJoin(events, and(eq(events.project_id, project), eq(events.id, refs.event_id)))
        .where(and(eq(refs.project_id, project), eq(refs.ref, text)))
        .orderBy(sql`${refs.event_id} DESC`)
        .limit(MOST_OF_A_TYPE),
  },
]

/** Subscriptions, invoices and payment methods by the first characters of the vendor's id. */
const OBJECTS = (['subscription', 'invoice', 'payment_method'] as const).map(
  (kind): Source<Db> => ({
    type: kind,
    scope,
    find: (db, project, { text }) =>
      text.length < FEWEST
        ? null
        : db
            .select({
              id: billingObjects.vendor_id,
              title: sql<string>`${billingObjects.vendor_id}`.as('title'),
              detail: sql<string>`${billingObjects.status}`,
              vendor: billingObjects.vendor,
            })
            .from(billingObjects)
            .where(
              and(
                eq(billingObjects.project_id, project),
                eq(billingObjects.kind, kind),
                begins(billingObjects.vendor_id, text),
              ),
            )
            .orderBy(billingObjects.vendor_id)
            .limit(MOST_OF_A_TYPE),
  }),
)

/** Billing customers by the first characters of the vendor's id, without those that were erased with their consumers. */
const CUSTOMERS: Source<Db> = {
  type: 'customer',
  scope,
  find: (db, project, { text }) =>
    text.length < FEWEST
      ? null
      : db
          .select({
            id: customerLinks.customer,
            title: sql<string>`${customerLinks.customer}`.as('title'),
            detail: sql<string | null>`coalesce(nullif(${customerLinks.pinned}, ''), 'ext:' || ${customerLinks.ref})`,
            vendor: customerLinks.vendor,
          })
          .from(customerLinks)
          .where(
            and(
              eq(customerLinks.project_id, project),
              begins(customerLinks.customer, text),
              sql`coalesce(${customerLinks.pinned}, '') NOT GLOB ${ERASED_PINS}`,
            ),
          )
          .orderBy(customerLinks.customer)
          .limit(MOST_OF_A_TYPE),
}

const REPLAYS: Source<Db> = {
  type: 'replay',
  scope,
  find: (db, project, typed) =>
    byId(typed, 'rpl', () =>
      db
        .select({
          id: replays.id,
          title: sql<string>`${replays.id}`.as('title'),
          detail: sql<string>`${replays.queued} || ' events'`,
          vendor: NOTHING,
        })
        .from(replays)
        .where(and(eq(replays.project_id, project), eq(replays.id, typed.text))),
    ),
}

/** What vendors send, and what is made of it. */
export const BILLING_SOURCES: Source<Db>[] = [CUSTOMERS, ...OBJECTS, ...EVENTS, REPLAYS]
