import { DAY, HOUR, iso, isoDay, MINUTE, SECOND } from '../../lib/time'

/** A timestamp in milliseconds; null if it is missing or invalid. */
export function timeOf(iso: string | null): number | null {
  const at = iso === null ? Number.NaN : Date.parse(iso)
  return Number.isNaN(at) ? null : at
}

/** After this many days, a date says more than their number. */
const MOST_DAYS = 30

/**
 * A time relative to now: `just now`, `3 min ago`, `in 2 d`, and a date in UTC where that is more than 30 days away.
 * Every number is rounded to the nearest one, so a key made to expire in seven days still expires `in 7 d` an hour later.
 * `assets/times.js` does the same in the browser, as time goes by.
 */
export function relative(at: number, now: number): string {
  const distance = Math.abs(now - at)
  const [minutes, hours, days] = [MINUTE, HOUR, DAY].map((size) => Math.round(distance / size)) as [
    number,
    number,
    number,
  ]
  if (days > MOST_DAYS) return isoDay(at)
  if (minutes === 0) return at > now ? 'in a moment' : 'just now'
  const amount = minutes < 60 ? `${minutes} min` : hours < 24 ? `${hours} h` : `${days} d`
  return at > now ? `in ${amount}` : `${amount} ago`
}

/** A time in UTC: `2026-05-04 03:02:01 UTC`. */
export function exact(at: number): string {
  return `${iso(at).slice(0, 19).replace('T', ' ')} UTC`
}

/** A time in UTC and how far away it is: `2026-05-04 03:02:01 UTC (in 7 d)`. A date is not said twice. */
export function inFull(at: number, now: number): string {
  const distance = relative(at, now)
  return exact(at).startsWith(distance) ? exact(at) : `${exact(at)} (${distance})`
}

/** A duration in milliseconds, in a readable unit: `0.8 ms`, `120 ms`, `1.3 s`, `2.5 min`, `3 h`. */
export function duration(ms: number): string {
  if (ms < SECOND) return `${short(ms)} ms`
  if (ms < MINUTE) return `${short(ms / SECOND)} s`
  if (ms < HOUR) return `${short(ms / MINUTE)} min`
  return `${short(ms / HOUR)} h`
}

/** A duration that may be unknown. */
export const took = (ms: number | null) => (ms === null ? '–' : duration(ms))

const SIZES: [number, string][] = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
]

/** A number of bytes that may be unknown, in a readable unit: `850 kB`, `1.3 GB`. */
export function bytes(n: number | null): string {
  if (n === null) return '–'
  const [size, unit] = SIZES.find(([size]) => n >= size) ?? [1, 'bytes']
  return `${short(n / size)} ${unit}`
}

function short(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : String(Math.round(value))
}

type Money = { value: number; currency: string }

/** An amount in minor units: `€19.00`, `CA$19.00`, and `CHF 19.00` where a currency has no sign. */
export function money({ value, currency }: Money): string {
  try {
    const { format, digits } = formatOf(currency)
    return format.format(value / 10 ** digits).replace('\u00a0', ' ')
  } catch {
    return `${value} ${currency}` // not a currency code
  }
}

/** An amount in minor units as a number: `19.00`. Null if the currency is not known. */
export function decimal(value: number | null | undefined, currency: string | null | undefined): string | null {
  if (value === null || value === undefined || !currency) return null
  try {
    const { digits } = formatOf(currency)
    return (value / 10 ** digits).toFixed(digits)
  } catch {
    return null // not a currency code
  }
}

/** @throws RangeError if it is no currency code */
function formatOf(currency: string) {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return { format, digits: format.resolvedOptions().maximumFractionDigits ?? 2 }
}

/** `1 event`, `2 events`. */
export function plural(n: number, one: string): string {
  return `${n.toLocaleString('en')} ${one}${n === 1 ? '' : 's'}`
}

const TIME = /^(\d{4}-\d\d-\d\d)T([\d:]{8})(\.\d+)?Z$/

/** What the price of an item is called: by its name, else by its key, else by its id. Null if it has none of them. */
export function priceName({ price_name, lookup_key, price }: Record<string, unknown>): string | null {
  const name = price_name ?? lookup_key ?? price
  return typeof name === 'string' ? name : null
}

/** A value of a billing object as text: items as `3 × Pro, monthly`, times to the second, and other objects without their nulls. */
export function words(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (Array.isArray(value)) return value.map(words).join(', ') || 'none'
  if (typeof value === 'number') return value.toLocaleString('en', { maximumFractionDigits: 20 })
  if (typeof value !== 'object') return String(value).replace(TIME, '$1 $2 UTC')
  if ('quantity' in value && 'price' in value)
    return `${words(value.quantity ?? '?')} × ${priceName({ ...value }) ?? '?'}`
  if ('type' in value && 'value' in value) return `${value.type ?? '?'} ${value.value ?? '?'}`
  return Object.entries(value)
    .filter(([, part]) => part !== null)
    .map(([name, part]) => `${name} ${isYear(name) ? part : words(part)}`)
    .join(', ')
}

/** Whether a field is a year, whose digits are not grouped. */
export const isYear = (name: string) => name.endsWith('year')

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A word of the API as people read it: `past_due` is "Past due". */
export const asWords = (name: string) => capital(name.replaceAll('_', ' '))

/** A field's name as a label: `amount_due` is "Amount due". */
export function labelOf(name: string): string {
  if (name === 'id') return 'ID'
  if (name === 'livemode') return 'Mode'
  return asWords(name)
    .replace(/\b(url|pdf)\b/gi, (word) => word.toUpperCase())
    .replace(/\bids\b/, 'IDs')
}

/** A mode as a word. */
export const modeWord = (livemode: boolean) => (livemode ? 'Live' : 'Test')

/** A message as a full sentence, with a capital letter and a period. */
export function sentence(message: string): string {
  return capital(message.endsWith('.') ? message : `${message}.`)
}

/** What ends a sentence after a name: nothing if the name ends with a full stop itself, such as `Acme Inc.`. */
export const stopAfter = (name: string) => (name.endsWith('.') ? '' : '.')

/** The beginning of a text that is longer than so many characters. */
export function cut(text: string, most: number): string {
  const chars = [...text]
  return chars.length > most ? `${chars.slice(0, most).join('')}…` : text
}

/** An address or name in a label that screen readers read aloud. A long one is cut, so that lists stay small. */
export function brief(text: string): string {
  return text.length > 64 ? `${text.slice(0, 63)}…` : text
}

/** The fields that are amounts in minor units of the object's currency. */
const AMOUNTS: ReadonlySet<string> = new Set([
  'amount',
  'amount_due',
  'amount_off',
  'amount_paid',
  'amount_remaining',
  'balance',
  'discount_amount',
  'ending_balance',
  'post_payment_credit_notes_amount',
  'pre_payment_credit_notes_amount',
  'starting_balance',
  'refunded_amount',
  'subtotal',
  'tax',
  'total',
])

/** An amount in its currency; null if the field is not an amount, or the currency is not known. */
export function amountIn(field: string, value: unknown, currency: string | null | undefined): string | null {
  if (!AMOUNTS.has(field) || typeof value !== 'number' || !currency) return null
  return money({ value, currency })
}

/** The price of an item or a line: `€19.00 / month`, `€5.00 / 3 months`. Null for a price without an amount. */
export function priceOf(item: Record<string, unknown>, currency?: string | null): string | null {
  const { amount, interval, interval_count } = item
  const own = typeof item.currency === 'string' ? item.currency : currency
  const price = amountIn('amount', amount, own)
  if (price === null || typeof interval !== 'string') return price
  const every = typeof interval_count === 'number' && interval_count > 1 ? `${interval_count} ${interval}s` : interval
  return `${price} / ${every}`
}
