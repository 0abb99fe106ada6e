import * as z from 'zod'
import type { Kind, ShownKind } from '../lib/billing-kinds'
import { VENDOR_OF_GUESTS, withoutGuest } from '../vendors/guest'
import { isObject } from '../vendors/lib/json'
import { BODIES, type Bodies } from '../vendors/objects'
import type { PurchasePart } from '../vendors/purchase'
import type { StoredBody } from './reduce'

/*
 * What a row keeps of an object, and back. A field that is null is not kept: most are. So a field that was added later
 * reads as null where a row was written before it, until an event of the object is processed.
 */

/**
 * The version of a stored body, in its field `version`. A body without one is from before migration 0009: it has fewer
 * fields, but each of them, even where it is null. For fields that are added later, raise the version, and let
 * {@link mayTell} know which ones they are.
 */
const VERSION = 4

const { subscription, invoice, customer } = BODIES
const itemOf3 = subscription.shape.items.element.omit({ variant: true })
/** What bodies of version 3 can have. */
const BODIES_OF_3: Record<ShownKind, z.ZodType> = {
  ...BODIES,
  subscription: subscription.extend({ items: z.array(itemOf3) }),
}
const itemOf2 = itemOf3.omit({ price_name: true, lookup_key: true })
/** What bodies of version 2 can have. */
const BODIES_OF_2: Record<ShownKind, z.ZodType> = {
  ...BODIES,
  subscription: subscription.extend({ items: z.array(itemOf2) }),
  invoice: invoice.omit({
    pre_payment_credit_notes_amount: true,
    post_payment_credit_notes_amount: true,
    customer_address: true,
    customer_tax_exempt: true,
    customer_tax_ids: true,
  }),
  customer: customer.omit({ tax_exempt: true, discounts: true }),
}

/** A body as a row keeps it. */
export function stored(body: Bodies[Kind] | PurchasePart): StoredBody {
  return { ...(withoutNulls(body) as StoredBody), version: VERSION }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([name, part]) => [name, withoutNulls(part)]),
  )
}

/** A body as callers see it: every field of its kind, null where the row has none. A guest is not shown as a customer. */
export function shownBody<K extends ShownKind>(kind: K, body: StoredBody): Bodies[K] {
  const shown = filled(BODIES[kind], { ...formerNames(body), ...body }) as Bodies[K]
  // Only purchases have guests, all at one vendor.
  return kind === 'purchase' ? { ...shown, customer: withoutGuest(VENDOR_OF_GUESTS, body.customer ?? null) } : shown
}

/**
 * Whether a field that differs from a stored body tells of a change. It does not if the body is too old to have the field:
 * nobody knows what the field was then. A part of a field, such as the amount of an item, is treated in the same way.
 */
export function mayTell(kind: Kind, before: StoredBody, field: string, now: unknown): boolean {
  if (before.version === VERSION || kind === 'payment_card') return true
  const schema = before.version === 3 ? BODIES_OF_3[kind] : before.version === 2 ? BODIES_OF_2[kind] : null
  const was = schema ? filled(schema, before) : { ...formerNames(before), ...before }
  return differs((was as Record<string, unknown>)[field], now)
}

/** Whether two values differ in what the older one has. */
function differs(was: unknown, now: unknown): boolean {
  if (was === undefined) return false
  if (Array.isArray(was) && Array.isArray(now))
    return was.length !== now.length || was.some((part, index) => differs(part, now[index]))
  if (isObject(was) && isObject(now)) return Object.entries(was).some(([name, part]) => differs(part, now[name]))
  return JSON.stringify(was) !== JSON.stringify(now ?? null)
}

/** The fields of an invoice that rows had under other names. */
function formerNames({ due_date, hosted_invoice_url }: StoredBody) {
  return { due_at: due_date, hosted_url: hosted_invoice_url }
}

/** A value with every field that its schema has, and no other. */
function filled(schema: unknown, value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (schema instanceof z.ZodNullable) return filled(schema.unwrap(), value)
  if (schema instanceof z.ZodArray && Array.isArray(value)) return value.map((one) => filled(schema.element, one))
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, part]) => [name, filled(part, (value as Record<string, unknown>)[name])]),
  )
}
