import { type Cut, fittedBody, word } from './lib/bounded'
import { integer, isObject, type Json, text, without } from './lib/json'
import type { PurchasePart, SalePart, SoldItem } from './purchase'
import { canonical, type PartSnapshot } from './snapshot'

/** A part of a purchase as a vendor's file makes it. `id`: of the payment. `reports`, `terminal`: see snapshot.ts. */
export type MadePart = {
  id: string
  part: string
  body: PurchasePart
  terminal?: boolean
  reports?: boolean
  /** Instead of the state of the vendor's object, where the part is only a little of it. */
  after?: string
  cut?: Cut
}

/** What orders the states of a part: see snapshot.ts. */
export type PartOrder = Pick<PartSnapshot, 'occurred_at' | 'updated_at' | 'step'> &
  Partial<Pick<PartSnapshot, 'after' | 'before' | 'version'>>

/** A part as a snapshot. Where the vendor's object tells no states apart, what is kept of it does. One with a version is never final. */
export function partSnapshot(
  { after, before = null, version = null, ...when }: PartOrder,
  made: MadePart,
): PartSnapshot {
  const { id, part, reports = false, cut = { any: false } } = made
  const terminal = made.terminal === true && version === null
  const body = fittedBody(made.body, cut)
  const state = made.after ?? after ?? canonical(without(body as unknown as Json, 'updated_at', 'receipt_url'))
  const kept = { after: state, before: made.after === undefined ? before : null, incomplete: cut.any }
  return { kind: 'purchase', id, part, body, terminal, reports, version, ...when, ...kept }
}

/** A sale with these fields. */
export function saleWith(known: Pick<SalePart, 'status'> & Partial<SalePart>): SalePart {
  return {
    customer: null,
    vendor_status: null,
    livemode: null,
    created_at: null,
    updated_at: null,
    metadata: null,
    number: null,
    description: null,
    currency: null,
    subtotal: null,
    discount_amount: null,
    tax: null,
    total: null,
    paid_at: null,
    items: null,
    refunded: null,
    invoice: null,
    subscription: null,
    payment_method: null,
    receipt_url: null,
    hosted_url: null,
    customer_email: null,
    customer_name: null,
    ...known,
  }
}

/** An item with these fields. */
export function soldItem(known: Partial<SoldItem>): SoldItem {
  return {
    id: null,
    description: null,
    price: null,
    variant: null,
    product: null,
    quantity: null,
    amount: null,
    ...known,
  }
}

/** The keys of metadata that say what was bought, if the project has not chosen others: first that of the price, then that of the product. */
export const ITEM_KEYS = ['price_id', 'product_id'] as const

/**
 * What the metadata of a payment says was bought, with its `quantity`: only the project's own server writes it. Null if it does not say it.
 *
 * @param keys as {@link ITEM_KEYS}
 */
export function itemsOfMetadata(metadata: unknown, keys: readonly string[]): SoldItem[] | null {
  if (!isObject(metadata)) return null
  const named = (key: string | undefined) =>
    key !== undefined && Object.hasOwn(metadata, key) ? word(metadata[key]) : null
  const [price, product] = [named(keys[0]), named(keys[1])]
  if (price === null && product === null) return null
  const digits = /^\d{1,9}$/.exec(text(metadata.quantity) ?? String(integer(metadata.quantity) ?? ''))?.[0]
  return [soldItem({ price, product, quantity: digits === undefined ? 1 : Number(digits) })]
}
