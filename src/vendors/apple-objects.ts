import { appleLivemode, applePartsOf, appleStateOf, appleToken } from './apple-notification'
import { applePurchase } from './apple-purchase'
import { type Cut, upperCurrency, word } from './lib/bounded'
import { integer, type Json, numericId } from './lib/json'
import { thousandths } from './lib/money'
import { required } from './lib/read'
import { isoMillis } from './lib/time'
import { knownStatus } from './objects'
import { partSnapshot } from './purchase-parts'
import { EVENT_STEPS, type Made, type Snapshot } from './snapshot'
import { blank, type From, itemWith, wholeSnapshot } from './whole'

/** Apple's transactions as billing state. The time is that of the signature, and nothing says what was before. */
export function appleSnapshots(event: Json): Snapshot[] {
  const state = appleStateOf(event)
  if (state === null) return []
  const cut: Cut = { any: false }
  const { transaction, status } = applePartsOf(event)
  const occurred_at = isoMillis(event.signedDate)
  const bought = state === 'subscription' ? transaction.originalPurchaseDate : transaction.purchaseDate
  const common = {
    customer: word(appleToken(event)),
    vendor_status: numericId(status),
    livemode: appleLivemode(event),
    created_at: isoMillis(bought),
    updated_at: occurred_at,
    metadata: null,
  }
  const when = { version: null, occurred_at, updated_at: null, step: EVENT_STEPS.updated }
  const from = { type: String(event.notificationType), object: event, common, cut }
  if (state === 'purchase') return applePurchase(from).map((one) => partSnapshot(when, one))
  const id = required(transaction.originalTransactionId, 'originalTransactionId')
  return [wholeSnapshot({ kind: state, id, when }, subscription(from), cut)]
}

const STATUS = { 1: 'active', 2: 'canceled', 3: 'unpaid', 4: 'past_due', 5: 'canceled' } as const

/**
 * A subscription as its newest transaction and its renewal say it is. None is final: whoever subscribes again continues it.
 * https://developer.apple.com/documentation/appstoreservernotifications/status
 */
function subscription({ type, object, common }: From): Made<'subscription'> {
  const { transaction, renewal } = applePartsOf(object)
  const revoked = isoMillis(transaction.revocationDate)
  const isTaken = (type === 'REFUND' || type === 'REVOKE') && revoked !== null
  const said = isTaken ? 'canceled' : knownStatus(common.vendor_status, STATUS)
  const isTrial = said === 'active' && transaction.offerDiscountType === 'FREE_TRIAL'
  const [start, end] = [isoMillis(transaction.purchaseDate), isoMillis(transaction.expiresDate)]
  const isOver = said === 'canceled'
  const renews = integer(renewal.autoRenewStatus)
  const next = isoMillis(renewal.renewalDate) ?? end
  // Until then it gives access, though it has not been paid.
  const grace = said === 'past_due' ? isoMillis(renewal.gracePeriodExpiresDate) : null
  const price = thousandths(transaction.price, transaction.currency)
  const product = word(transaction.productId)
  const later = word(renewal.autoRenewProductId)
  const changes = !isOver && renews !== 0 && later !== null && later !== product
  const body = {
    ...blank('subscription'),
    ...common,
    status: isTrial ? ('trialing' as const) : said,
    currency: upperCurrency(transaction.currency),
    items: [
      itemWith({
        price: product,
        product: word(transaction.subscriptionGroupIdentifier),
        quantity: integer(transaction.quantity) ?? 1,
        amount: price?.value ?? null,
        currency: upperCurrency(transaction.currency),
      }),
    ],
    current_period_start: start,
    current_period_end: end,
    started_at: isoMillis(renewal.recentSubscriptionStartDate) ?? common.created_at,
    trial_start: isTrial ? start : null,
    trial_end: isTrial ? end : null,
    next_billed_at: !isOver && renews === 1 ? next : null,
    cancel_at: !isOver && renews === 0 ? (grace ?? end) : null,
    cancel_at_period_end: renews === null ? null : renews === 0 && !isOver,
    ended_at: isOver ? (revoked ?? end) : null,
    scheduled_change: changes ? { action: `renew_as:${later}`, effective_at: next, resume_at: null } : null,
  }
  return { body, terminal: false }
}
