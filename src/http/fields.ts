import * as z from 'zod'

/** A time as the API writes it: ISO 8601 UTC with milliseconds. */
export const timestamp = z.iso.datetime()

// Cc: control characters; Zl, Zp: line and paragraph separators; Cs: lone surrogates; the rest are bidi overrides,
// which make a label read as what it is not.
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

/** A label: 1 to `max` characters (code points) after trimming, without control characters. */
export function visibleText(max: number) {
  return z
    .string()
    .trim()
    .refine((text) => text.length > 0, 'may not be empty')
    .refine((text) => [...text].length <= max, `may have at most ${max} characters`)
    .refine((text) => !INVISIBLE.test(text), 'may not contain control characters')
    .meta({ minLength: 1, maxLength: max })
}
