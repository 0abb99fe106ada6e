import { and, eq, inArray, or } from 'drizzle-orm'
import type { Db, Results } from '../../db/client'
import type { ObjectKind } from '../../lib/billing-kinds'
import { shownBody } from '../body'
import { MAX_CUSTOMER_LIST_BYTES, MAX_OF_CUSTOMER } from '../limits'
import { isListedObject } from '../read/list'
import { type Owned, presentObject } from '../read/present'
import { findObject, listObjects, o, type ReadBeside } from '../read/store'

/** A vendor's customer. */
export type CustomerKey = { vendor: string; id: string }

/** The statements that read a customer and what it has. @param beside what else is read of its subscriptions and purchases */
export function ofCustomer(db: Db, projectId: string, { vendor, id }: CustomerKey, beside?: ReadBeside) {
  const latest = (kind: ObjectKind, more?: ReadBeside) =>
    listObjects(db, projectId, kind, {
      filters: { customer: id, vendor },
      beside: more,
      before: null,
      take: MAX_OF_CUSTOMER + 1,
      bytes: MAX_CUSTOMER_LIST_BYTES,
    })
  return {
    customer: findObject(db, projectId, { kind: 'customer', id, vendor }),
    subscriptions: latest('subscription', beside),
    invoices: latest('invoice'),
    payment_methods: latest('payment_method'),
    purchases: latest('purchase', beside),
  }
}

/** Reads whether anything of a vendor's customer is known: a row if so. */
export function findTrace(db: Db, projectId: string, { vendor, id }: CustomerKey) {
  const of = and(eq(o.project_id, projectId), eq(o.vendor, vendor))
  const own = and(eq(o.kind, 'customer'), eq(o.vendor_id, id))
  const theirs = and(inArray(o.kind, ['subscription', 'invoice', 'payment_method', 'purchase']), eq(o.customer, id))
  return db
    .select({ id: o.vendor_id })
    .from(o)
    .where(and(of, or(own, theirs)))
    .limit(1)
}

type Found = Results<ReturnType<typeof ofCustomer>>

/**
 * A customer as the API shows it; null if nothing of it is known.
 *
 * @param link which consumer the customer is. `recorded`: whether that is known from elsewhere
 */
export function customerOf({ vendor, id }: CustomerKey, found: Found, link: Owned & { recorded: boolean }) {
  const {
    customer: [own],
    ...lists
  } = found
  if (!own && !link.recorded && Object.values(lists).every((rows) => rows.length === 0)) return null
  const { customer: _, ...fields } = own
    ? presentObject('customer', own)
    : { ...shownBody('customer', NOTHING), id, vendor, ambiguous: false, incomplete: false, source_event_id: null }
  return {
    ...fields,
    status: own ? fields.status : null,
    subscriptions: latestOf('subscription', lists.subscriptions, link),
    invoices: latestOf('invoice', lists.invoices, link),
    payment_methods: latestOf('payment_method', lists.payment_methods, link),
    purchases: latestOf('purchase', lists.purchases, link),
  }
}

const NOTHING = { status: 'unknown' }

/** The objects of a list that are shown with a customer, and whether there are, or may be, more. */
function latestOf<K extends ObjectKind>(kind: K, rows: Found['invoices'], { consumer_id }: Owned) {
  const objects = rows.filter(isListedObject).slice(0, MAX_OF_CUSTOMER)
  return {
    data: objects.map((row) => ({ ...presentObject(kind, row), consumer_id })),
    has_more: rows.length > MAX_OF_CUSTOMER || !rows.every(isListedObject),
  }
}
