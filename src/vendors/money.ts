import { text } from './read'

export type Money = { value: number; currency: string }

/**
 * Currencies whose minor unit is not a hundredth, by ISO 4217 (https://www.six-group.com/en/products-services/
 * financial-information/data-standards.html). A table, and not Intl: that one answers with CLDR's habits of writing
 * (no decimals for ALL or LBP), not with what ISO 4217 says.
 */
const DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}
const BY_CURRENCY = new Map(
  Object.entries(DIGITS).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)] as const)),
)

/** How many decimals a currency has: 2 where it is not listed above; null where the code is no currency code. */
export function decimalsOf(currency: string): number | null {
  const code = currency.toUpperCase()
  return /^[A-Z]{3}$/.test(code) ? (BY_CURRENCY.get(code) ?? 2) : null
}

/** An amount in minor units (a safe integer, or one as a text) with its currency; null unless both are there. */
export function money(value: unknown, currency: unknown): Money | null {
  const amount = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  const unit = text(currency)
  return typeof amount === 'number' && Number.isSafeInteger(amount) && unit
    ? { value: amount + 0, currency: unit.toUpperCase() } // + 0: no minus zero
    : null
}

/**
 * As {@link money}, of a vendor whose "cents" are the minor unit for certain only in currencies of so many decimals.
 * In others the number may be off by a factor of 100, so it is not reported.
 */
export function cents(value: unknown, currency: unknown, decimals: readonly number[] = [2]): Money | null {
  const found = money(value, currency)
  return found && decimals.includes(decimalsOf(found.currency) ?? -1) ? found : null
}

/** An amount in major units, as a decimal text or a number, in minor units; null where it has more decimals than those. */
export function decimal(value: unknown, currency: unknown): Money | null {
  const unit = text(currency)
  const digits = unit === null ? null : decimalsOf(unit)
  const match = /^(-?\d+)(?:\.(\d+?)0*)?$/.exec(typeof value === 'number' ? String(value) : (text(value) ?? ''))
  if (!match || digits === null) return null
  const [, whole, fraction = ''] = match
  const kept = fraction === '0' ? '' : fraction // "1.0": the lazy group keeps one zero
  return kept.length > digits ? null : money(`${whole}${kept.padEnd(digits, '0')}`, unit)
}
