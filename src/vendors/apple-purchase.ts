import { applePartsOf } from './apple-notification'
import { upperCurrency, word } from './lib/bounded'
import { integer, type Json, number } from './lib/json'
import { thousandths } from './lib/money'
import { isoMillis } from './lib/time'
import { PARTS, partNamed } from './purchase'
import { type MadePart, saleWith, soldItem } from './purchase-parts'
import type { From } from './whole'

/** What a percentage of everything is: it is in thousandths of a percent. */
const WHOLE = 100_000

/**
 * A transaction that does not renew, and what was taken back of it. Each notification has the whole transaction.
 * https://developer.apple.com/documentation/appstoreservernotifications/jwstransactiondecodedpayload
 */
export function applePurchase({ type, object, common }: Omit<From, 'cut'>): MadePart[] {
  const { transaction } = applePartsOf(object)
  const id = word(transaction.transactionId)
  if (id === null) return []
  // It counts the quantity: https://developer.apple.com/documentation/storekit/transaction/price
  const total = thousandths(transaction.price, transaction.currency)?.value ?? null
  const back = takenBack(type, transaction, total)
  const sale = saleWith({
    ...common,
    // Said here too, for transactions without a price.
    status: back?.isWhole ? 'refunded' : 'paid',
    currency: upperCurrency(transaction.currency),
    total,
    paid_at: common.created_at,
    items: [
      soldItem({ price: word(transaction.productId), quantity: integer(transaction.quantity) ?? 1, amount: total }),
    ],
  })
  const isReversed = back === null && type === 'REFUND_REVERSED'
  const parts = [{ id, part: PARTS.sale, body: sale }]
  if (back === null && !isReversed) return parts
  const refund = {
    customer: common.customer,
    updated_at: common.updated_at,
    // A transaction is refunded once. After that was reversed, it can be refunded again.
    status: isReversed ? ('canceled' as const) : ('succeeded' as const),
    charge: null,
    amount: isReversed ? total : (back?.amount ?? null),
    reason: back?.reason ?? null,
    revokes_access: back?.isRevoked ? true : null,
    created_at: back?.at ?? null,
    returned: null,
  }
  return [...parts, { id, part: partNamed('refund', id), body: refund }]
}

/** What was taken back of a transaction; null if nothing was. `isRevoked`: a family shares it no more, and no money went back. */
function takenBack(type: string, transaction: Json, total: number | null) {
  const at = isoMillis(transaction.revocationDate)
  if (at === null) return null
  const isShared = transaction.revocationType === 'FAMILY_REVOKE' || transaction.inAppOwnershipType === 'FAMILY_SHARED'
  const isRevoked = type === 'REVOKE' || isShared
  const said = number(transaction.revocationPercentage)
  const share = isRevoked ? 0 : said !== null && said >= 0 && said < WHOLE ? said : WHOLE
  const amount = total === null ? null : Math.round((total * share) / WHOLE)
  const reason = { 0: 'other', 1: 'app_issue' }[integer(transaction.revocationReason) ?? -1] ?? null
  return { at, isRevoked, amount, isWhole: share === WHOLE, reason }
}
