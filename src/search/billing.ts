import { and, type Column, desc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm'
import { customersNamed, indexBegins } from '../billing/customers/named'
import { overdueInvoice } from '../billing/invoices/debt'
import { isKnownOverdue, saidBy } from '../billing/overdue/overdue'
import { billingObjects, CALLED, EMAIL_OF_CUSTOMER } from '../billing/schema'
import type { Db } from '../db/client'
import { namedOf } from '../entitlements/named'
import { hasKey } from '../inbox/archive/find'
import { archivedRefs } from '../inbox/archive/schema'
import { connections } from '../inbox/connections/schema'
import { statusShown } from '../inbox/held'
import { modeOfEvent } from '../inbox/mode'
import { events, refs, replays } from '../inbox/schema'
import type { Kind } from '../lib/billing-kinds'
import { CUSTOMERS } from './customers'
import { MOST_OF_A_TYPE } from './limits'
import { byId, byText, foundFields, type How, inTable, ofVendor, type SearchSource } from './source'
import type { SearchText } from './text'

const scope = 'billing:read' as const
const event = { type: 'event', scope } as const
const shownEvent = { id: events.id, title: events.event_type, detail: statusShown(events), livemode: modeOfEvent }

/** Events by their id, by the vendor's id, and by the id of an object that they are about, newest first. */
const EVENTS: SearchSource<Db>[] = [
  inTable('event', scope, { ...shownEvent, table: events, project: events.project_id, prefix: 'evt' }),
  {
    ...event,
    find: (db, project, text) =>
      byId(text, 'evt', () =>
        db
          .select({
            ...foundFields({ id: archivedRefs.key, title: sql`'Archived event'`, detail: sql`NULL` }),
            id: sql<string>`${text.text}`.as('id'),
          })
          .from(archivedRefs)
          .where(hasKey(project, text.text))
          .limit(1),
      ),
  },
  {
    ...event,
    find: (db, project, { text }) => {
      const own = db.select({ id: connections.id }).from(connections).where(eq(connections.project_id, project))
      return db
        .select(foundFields(shownEvent))
        .from(events)
        .where(and(inArray(events.connection_id, own), eq(events.vendor_event_id, text)))
        .limit(MOST_OF_A_TYPE)
    },
  },
  {
    ...event,
    find: (db, project, { text }) =>
      db
        .select(foundFields(shownEvent))
        .from(refs)
        .innerJoin(events, and(eq(events.project_id, project), eq(events.id, refs.event_id)))
        .where(and(eq(refs.project_id, project), eq(refs.ref, text)))
        .orderBy(desc(refs.event_id))
        .limit(MOST_OF_A_TYPE),
  },
]

const modeOfObject = sql`coalesce(${saidBy(billingObjects, 'livemode')}, 1)`
/** A payment whose sale is not known is not shown. */
const ofKind = (kind: Kind) =>
  and(eq(billingObjects.kind, kind), kind === 'purchase' ? isNotNull(billingObjects.updated) : undefined)

/** Whether an object is overdue, as its page says it. */
const OVERDUE: Partial<Record<Kind, (now: number) => SQL>> = {
  subscription: (now) => isKnownOverdue(billingObjects, now),
  invoice: (now) => overdueInvoice(billingObjects, now),
}

const aboutObject = (kind: Kind, project: string, { names, now }: How) => sql`json_object(
  'total', ${saidBy(billingObjects, 'total')}, 'currency', ${saidBy(billingObjects, 'currency')},
  'overdue', json(iif(${OVERDUE[kind]?.(now) ?? sql`0`}, 'true', 'false')),
  'named', json(${namedOf(project, billingObjects, { consumer: names, plans: false })}))`

const OBJECTS = (['subscription', 'invoice', 'payment_method', 'purchase'] as const).map((kind) =>
  ofVendor(kind, scope, {
    table: billingObjects,
    project: billingObjects.project_id,
    id: billingObjects.vendor_id,
    detail: billingObjects.status,
    vendor: billingObjects.vendor,
    livemode: modeOfObject,
    about: (project, how) => aboutObject(kind, project, how),
    only: ofKind(kind),
  }),
)

const KEY = { id: billingObjects.vendor_id, vendor: billingObjects.vendor }
/** Where objects are found by what people call them, and in which order. */
type Way = (project: string, asked: SearchText) => { from: SQL; is: SQL; order: SQL }

/** Objects of a kind by what people call them. */
function called(kind: 'customer' | 'invoice' | 'purchase', way: Way, of: CalledFields): SearchSource<Db> {
  return {
    type: kind,
    scope,
    names: true,
    find: (db, project, asked, how) =>
      byText(asked, () => {
        const { from, is, order } = way(project, asked)
        return db
          .select(
            foundFields({ ...KEY, ...of, ...(kind !== 'customer' && { about: aboutObject(kind, project, how) }) }),
          )
          .from(from)
          .where(and(eq(billingObjects.project_id, project), ofKind(kind), is))
          .orderBy(order)
          .limit(MOST_OF_A_TYPE)
      }),
  }
}
/** By the first letters of an indexed text. */
const begin =
  (indexed: SQL): Way =>
  (_, { lower }) => ({ from: sql`${billingObjects}`, is: indexBegins(indexed, lower), order: indexed })
/** By the words of a name. CROSS JOIN: from what was found to its rows. */
const byWords: Way = (project, { text }) => ({
  from: sql`${customersNamed(project, text, MOST_OF_A_TYPE)} k CROSS JOIN ${billingObjects}`,
  is: sql`${billingObjects.vendor} = k.v AND ${billingObjects.vendor_id} = k.i`,
  order: sql`${billingObjects.vendor_id}`,
})
type CalledFields = { title: SQL; detail: Column | SQL; livemode?: SQL }

const number = { title: saidBy(billingObjects, 'number'), detail: billingObjects.status, livemode: modeOfObject }
const email = saidBy(billingObjects, 'email')
const nameOfCustomer = {
  title: saidBy(billingObjects, 'name'),
  detail: sql`coalesce(${email}, ${billingObjects.vendor_id})`,
}
/** Customers by their name or email address, invoices and purchases by their number. */
const CALLED_OBJECTS = [
  called('customer', byWords, nameOfCustomer),
  called('customer', begin(EMAIL_OF_CUSTOMER), { title: email, detail: billingObjects.vendor_id }),
  called('invoice', begin(CALLED), number),
  called('purchase', begin(CALLED), number),
]

const REPLAYS = inTable<Db>('replay', scope, {
  table: replays,
  project: replays.project_id,
  prefix: 'rpl',
  id: replays.id,
  title: replays.id,
  detail: sql`${replays.queued} || ' events'`,
})

/** What vendors send, and what is made of it. */
export const BILLING_SOURCES: SearchSource<Db>[] = [CUSTOMERS, ...OBJECTS, ...CALLED_OBJECTS, ...EVENTS, REPLAYS]
