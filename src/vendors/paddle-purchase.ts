import { type Cut, firstOf, link, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, objects, text } from './lib/json'
import { moneyIn } from './lib/money'
import { isId } from './lib/read'
import { MAX_LINE_TEXT_BYTES, MAX_LINES } from './limits'
import { knownStatus } from './objects'
import type { Paddle } from './paddle-shared'
import { capturedAt } from './paddle-transaction'
import { PARTS, partNamed } from './purchase'
import { type MadePart, saleWith, soldItem } from './purchase-parts'

/**
 * The sale that a transaction is, if it is paid and has one-time items: those whose price has no billing cycle. A renewal has none. Amounts are
 * those of the whole transaction.
 * https://developer.paddle.com/api-reference/transactions/overview
 */
export function transactionSale({ data, common }: Paddle): MadePart[] {
  if (common.vendor_status !== 'paid' && common.vendor_status !== 'completed') return []
  const once = new Set(
    objects(data.items)
      .filter(({ price }) => text(at(price, 'id')) !== null && at(price, 'billing_cycle') === null)
      .map(({ price }) => text(at(price, 'id'))),
  )
  const cut: Cut = { any: false }
  const lines = firstOf(at(data, 'details', 'line_items'), MAX_LINES, cut).filter(({ price_id }) =>
    once.has(text(price_id)),
  )
  if (lines.length === 0) return []
  const totals = at(data, 'details', 'totals')
  const currency = at(totals, 'currency_code') ?? data.currency_code
  const amount = (field: string) => moneyIn(at(totals, field), currency)?.value ?? null
  const body = saleWith({
    ...common,
    status: 'paid',
    number: word(data.invoice_number),
    currency: upperCurrency(currency),
    subtotal: amount('subtotal'),
    discount_amount: amount('discount'),
    tax: amount('tax'),
    total: amount('total'),
    paid_at: capturedAt(data.payments),
    items: lines.map((line) =>
      soldItem({
        id: word(line.id),
        description: prose(at(line, 'product', 'name'), MAX_LINE_TEXT_BYTES),
        price: word(line.price_id),
        product: word(at(line, 'product', 'id')),
        quantity: integer(line.quantity),
        amount: moneyIn(at(line, 'totals', 'total'), currency)?.value ?? null,
      }),
    ),
    invoice: word(data.id),
    subscription: word(data.subscription_id),
    hosted_url: link(at(data, 'checkout', 'url')),
  })
  return [{ id: word(data.id) ?? '', part: PARTS.sale, body, terminal: true, cut }]
}

/** `reversed`: it no longer counts. */
const REFUND = {
  pending_approval: 'pending',
  approved: 'succeeded',
  rejected: 'failed',
  reversed: 'canceled',
} as const
const DISPUTE = {
  chargeback: 'lost',
  chargeback_warning: 'inquiry',
  chargeback_reverse: 'won',
} as const

/**
 * What an adjustment does to the money of a transaction. A credit gives none back. A chargeback is lost until it is reversed: Paddle does not say
 * that one is contested.
 * https://developer.paddle.com/api-reference/adjustments/overview
 */
export function adjustment({ data, common }: Paddle): MadePart[] {
  const [id, payment, action] = [word(data.id), word(data.transaction_id), word(data.action) ?? '']
  if (id === null || payment === null || !isId(payment)) return []
  const currency = at(data, 'totals', 'currency_code') ?? data.currency_code
  const amount = moneyIn(at(data, 'totals', 'total'), currency)?.value ?? null
  const { customer, updated_at, created_at, vendor_status } = common
  const known = { customer, updated_at, amount, reason: prose(data.reason), created_at }
  const status = knownStatus(vendor_status, REFUND)
  const isOver = status === 'failed' || status === 'canceled'
  if (action === 'refund') {
    const returned = objects(data.items).flatMap((item) => {
      const of = word(item.item_id)
      const back = moneyIn(at(item, 'totals', 'total') ?? item.amount, currency)?.value ?? null
      return of === null ? [] : [{ item: of, amount: back, quantity: null, whole: item.type === 'full' }]
    })
    const body = { ...known, status, charge: null, revokes_access: null, returned }
    return [{ id: payment, part: partNamed('refund', id), body, terminal: isOver }]
  }
  const state = knownStatus(action, DISPUTE)
  if (state === 'unknown') return []
  const standing = isOver ? (state === 'lost' ? ('won' as const) : ('none' as const)) : state
  const reverses = action === 'chargeback_reverse'
  const body = { ...known, status: standing, vendor_status: `${action} ${vendor_status}`, due_at: null, reverses }
  return [{ id: payment, part: partNamed('dispute', id), body }]
}
