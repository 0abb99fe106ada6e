import { type Cut, upperCurrency, word, wordOf } from './lib/bounded'
import { at, isObject, type Json, number } from './lib/json'
import { moneyIn } from './lib/money'
import { isoSeconds } from './lib/time'
import { MAX_DISCOUNTS } from './limits'

/** `discounts` in newer versions: ids, or whole discounts where they were expanded. One `discount` in older ones. */
export function discountsOf({ discounts, discount }: Json, cut: Cut) {
  const one = isObject(discount) ? [discount] : []
  const all: unknown[] = Array.isArray(discounts) && (discounts.length > 0 || one.length === 0) ? discounts : one
  if (!Array.isArray(discounts) && discount === undefined) return null
  if (all.length > MAX_DISCOUNTS) cut.any = true
  return all
    .slice(0, MAX_DISCOUNTS)
    .filter((sent) => isObject(sent) || word(sent) !== null)
    .map(discountOf)
}

/** Since 2025-09-30 the coupon is in `source`, as its id unless it was expanded. */
function discountOf(sent: unknown) {
  const coupon = at(sent, 'coupon') ?? at(sent, 'source', 'coupon')
  const currency = upperCurrency(at(coupon, 'currency'))
  return {
    id: wordOf(sent),
    coupon: wordOf(coupon),
    promotion_code: wordOf(at(sent, 'promotion_code')),
    percent_off: number(at(coupon, 'percent_off')),
    amount_off: moneyIn(at(coupon, 'amount_off'), currency)?.value ?? null,
    currency,
    starts_at: isoSeconds(at(sent, 'start')),
    ends_at: isoSeconds(at(sent, 'end')),
  }
}
