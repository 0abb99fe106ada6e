import * as z from 'zod'

/** A time as the API writes it: ISO 8601 UTC with milliseconds. */
export const timestamp = z.iso.datetime()

/** How many: never less than none. */
export const count = z.int().min(0)

/** A whole number, in a body or as the digits of a query parameter: `1e1`, `0x10` and ` 1` are none. */
export function wholeNumber<T extends z.ZodType<number>>(range: T) {
  return z.preprocess((sent) => (typeof sent === 'string' && /^-?\d{1,15}$/.test(sent) ? Number(sent) : sent), range)
}

// Cc: control characters; Zl, Zp: line and paragraph separators; Cs: lone surrogates; the rest are bidi overrides,
// which make a label read as what it is not.
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

/** A label: 1 to `max` characters (code points) after trimming, without control characters. */
export function visibleText(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .refine((text) => [...text].length <= max, {
      error: `may have at most ${max} characters`,
      params: { code: 'out_of_range' },
    })
    .refine((text) => !INVISIBLE.test(text), 'may not contain control characters')
    .meta({ minLength: 1, maxLength: max })
}
