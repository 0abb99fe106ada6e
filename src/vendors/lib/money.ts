import { integer, text } from './json'

export type Money = { value: number; currency: string }

/**
 * Currencies whose minor unit is not a hundredth, by ISO 4217 (https://www.six-group.com/en/products-services/
 * financial-information/data-standards.html). Intl cannot be used: it follows CLDR, which is about how amounts are
 * written (no decimals for ALL or LBP), and differs from ISO 4217.
 */
const DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}
const BY_CURRENCY = new Map(
  Object.entries(DIGITS).flatMap(([digits, codes]) => codes.split(' ').map((code) => [code, Number(digits)] as const)),
)

/** How many decimals a currency has: 2 unless it is listed above; null if the code is not a currency code. */
export function decimalsOf(currency: string): number | null {
  const code = currency.toUpperCase()
  return /^[A-Z]{3}$/.test(code) ? (BY_CURRENCY.get(code) ?? 2) : null
}

/*
 * Patterns for text from outside: bounded, so that no text is slow to read. A safe integer has 16 digits; the rest is
 * room for zeros that a vendor pads with.
 */
const INTEGER = /^-?\d{1,32}$/
const DECIMAL = /^(-?\d{1,32})(?:\.(\d{1,32}))?$/
const TRAILING_ZEROS = /0+$/

/** An amount in minor units (a safe integer, or a string of one) with its currency; null unless both are present. */
export function moneyIn(value: unknown, currency: unknown): Money | null {
  const amount = typeof value === 'string' && INTEGER.test(value) ? Number(value) : value
  const unit = text(currency)
  return typeof amount === 'number' && Number.isSafeInteger(amount) && unit
    ? { value: amount + 0, currency: unit.toUpperCase() } // + 0: no minus zero
    : null
}

/**
 * As {@link moneyIn}, for a vendor whose "cents" are known to be the minor unit only in currencies with so many decimals.
 * In other currencies the number may be off by a factor of 100, so it is not reported.
 */
export function cents(value: unknown, currency: unknown, decimals: readonly number[] = [2]): Money | null {
  const found = moneyIn(value, currency)
  return found && decimals.includes(decimalsOf(found.currency) ?? -1) ? found : null
}

/** Converts an amount in major units (a decimal string or a number) to minor units; null if that is not exact. */
export function decimal(value: unknown, currency: unknown): Money | null {
  const unit = text(currency)
  const digits = unit === null ? null : decimalsOf(unit)
  const match = DECIMAL.exec(typeof value === 'number' ? String(value) : (text(value) ?? ''))
  if (!match || digits === null) return null
  const [, whole, fraction = ''] = match
  const kept = fraction.replace(TRAILING_ZEROS, '')
  return kept.length > digits ? null : moneyIn(`${whole}${kept.padEnd(digits, '0')}`, unit)
}

/** As {@link decimal}, of thousandths of the major unit. */
export function thousandths(value: unknown, currency: unknown): Money | null {
  const amount = integer(value)
  if (amount === null || amount < 0) return null
  return decimal(`${Math.floor(amount / 1000)}.${String(amount % 1000).padStart(3, '0')}`, currency)
}
