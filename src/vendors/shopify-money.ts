import { prose, word } from './lib/bounded'
import { at, type Json, numericId, objects, text } from './lib/json'
import { decimal } from './lib/money'
import { isoTime } from './lib/time'
import { MAX_LINES } from './limits'
import { knownStatus } from './objects'
import { type DisputeState, isBack, partNamed, type RefundStatus } from './purchase'
import { type MadePart, partSnapshot } from './purchase-parts'
import { shopifyId } from './shopify-shared'
import { EVENT_STEPS, type PartSnapshot } from './snapshot'

/** An amount that Shopify has in two currencies, in that of the shop, as the order has its amounts. */
function inShop(set: unknown): number | null {
  return decimal(at(set, 'shop_money', 'amount'), at(set, 'shop_money', 'currency_code'))?.value ?? null
}

const refundTime = ({ processed_at, created_at }: Json) => isoTime(processed_at) ?? isoTime(created_at)

/**
 * A refund is in its own event, and in each later event of its order. It changes once, when it is settled, so that it is as good as a version. Of
 * two events with the same, its own one counts.
 */
export function refundSnapshot(order: string, object: Json, isOwn: boolean): PartSnapshot {
  const made = refundOf(order, object)
  const { status } = made.body
  const version = status === 'failed' || (status === 'succeeded' && isOwn) ? 2 : status === 'succeeded' ? 1 : 0
  return partSnapshot({ version, occurred_at: null, updated_at: null, step: EVENT_STEPS.updated }, made)
}

const TRANSACTION = { success: 'succeeded', pending: 'pending', failure: 'failed', error: 'failed' } as const

/**
 * The amount of a transaction in the currency of the shop; null if it is in another one. A refund does not name the currency of the shop, but has
 * amounts in it.
 */
function amountOf({ amount, amount_set, currency }: Json, refund: Json): number | null {
  const sets = [...objects(refund.refund_line_items), ...objects(refund.order_adjustments)]
    .flatMap(({ subtotal_set, amount_set }) => [subtotal_set, amount_set])
    .concat(refund.total_duties_set)
  const shop = sets.map((set) => text(at(set, 'shop_money', 'currency_code'))).find((one) => one !== null)
  return (
    inShop(amount_set) ?? (shop === undefined || shop === currency ? (decimal(amount, currency)?.value ?? null) : null)
  )
}

/** Null if one of the amounts is not known. */
function addedUp(amounts: readonly (number | null)[]): number | null {
  return amounts.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0)
}

/** What came back for a line, with its tax. */
function totalOf({ subtotal_set, total_tax_set }: Json): number | null {
  const subtotal = inShop(subtotal_set)
  return subtotal === null ? null : subtotal + (inShop(total_tax_set) ?? 0)
}

/**
 * A refund, with the quantities that came back. Its transactions say what became of the money. Without one, items came back without money.
 * https://shopify.dev/docs/api/admin-rest/latest/resources/refund
 */
function refundOf(order: string, object: Json): MadePart {
  const all = objects(object.transactions)
    .filter(({ kind }) => kind === 'refund')
    .map((one) => ({ status: knownStatus(text(one.status), TRANSACTION), amount: amountOf(one, object) }))
  const standing = all.filter(({ status }) => isBack(status))
  const counted = standing.length > 0 ? standing : all
  const known = (['pending', 'succeeded', 'unknown', 'failed'] as const).find((one) =>
    counted.some(({ status }) => status === one),
  )
  const status: RefundStatus = known ?? 'succeeded'
  const lines = objects(object.refund_line_items)
  const returned = lines.slice(0, MAX_LINES).flatMap((line) => {
    const item = word(numericId(line.line_item_id))
    const quantity = Number.isSafeInteger(line.quantity) ? (line.quantity as number) : null
    return item === null ? [] : [{ item, amount: inShop(line.subtotal_set), quantity, whole: false }]
  })
  const body = {
    status,
    customer: null,
    updated_at: refundTime(object),
    charge: null,
    amount: addedUp(counted.map(({ amount }) => amount)) ?? (lines.length > 0 ? addedUp(lines.map(totalOf)) : null),
    reason: prose(object.note),
    revokes_access: null,
    created_at: isoTime(object.created_at) ?? refundTime(object),
    returned,
  }
  return { id: order, part: partNamed('refund', shopifyId(object) ?? ''), body }
}

/** A dispute does not say when it changed. Later states have the later of these times. */
export const disputeTime = ({ finalized_on, evidence_sent_on, initiated_at }: Json) =>
  isoTime(finalized_on) ?? isoTime(evidence_sent_on) ?? isoTime(initiated_at)

/** `charge_refunded`: closed, because the charge was refunded. The refund counts. */
const CHARGEBACK = {
  needs_response: 'open',
  under_review: 'open',
  charge_refunded: 'none',
  accepted: 'lost',
  won: 'won',
  lost: 'lost',
} as const
const INQUIRY = {
  ...CHARGEBACK,
  needs_response: 'inquiry',
  under_review: 'inquiry',
  accepted: 'none',
  won: 'none',
} as const

/** https://shopify.dev/docs/api/admin-rest/latest/resources/dispute */
export function disputeOf(order: string, object: Json): MadePart {
  const said = word(object.status)
  const state: DisputeState = knownStatus(said, object.type === 'inquiry' ? INQUIRY : CHARGEBACK)
  const type = word(object.type)
  const body = {
    status: state,
    customer: null,
    updated_at: disputeTime(object),
    vendor_status: type === null ? said : `${type} ${said}`,
    amount: decimal(object.amount, object.currency)?.value ?? null,
    reason: word(object.reason),
    created_at: isoTime(object.initiated_at),
    due_at: isoTime(object.evidence_due_by),
    reverses: false,
  }
  return { id: order, part: partNamed('dispute', shopifyId(object) ?? ''), body }
}
