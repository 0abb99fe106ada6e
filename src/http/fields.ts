import * as z from 'zod'
import { CATALOG_KEY, KEY_RULE } from '../lib/catalog-key'

/**
 * A schema that the OpenAPI document shows as a component of its own.
 *
 * @param id its name there, PascalCase and unique
 * @param example a value of it; every body of a request or response has one
 */
export function named<T extends z.ZodType>(id: string, schema: T, example?: z.input<T>): T {
  return schema.meta({ id, ...(example !== undefined && { examples: [example] }) })
}

/** The example of a {@link named} schema. */
export function exampleOf<T extends z.ZodType>(schema: T): z.input<T> {
  return (schema.meta()?.examples as z.input<T>[] | undefined)?.[0] as z.input<T>
}

/** A timestamp in a response: ISO 8601 UTC with milliseconds. */
export const timestamp = z.iso.datetime()

/** The key of a feature or a plan. */
export const catalogKey = z.string().regex(CATALOG_KEY, KEY_RULE)

/** A number of things: 0 or more. */
export const count = z.int().min(0)

/**
 * A whole number as decimal digits, in a query parameter. `1e1`, `0x10` and ` 1` are refused. A body has numbers of its own: there
 * it is a plain `z.int()`, which takes no text.
 */
export function wholeNumber<T extends z.ZodType<number>>(range: T) {
  return z.preprocess((sent) => (typeof sent === 'string' && /^-?\d{1,15}$/.test(sent) ? Number(sent) : sent), range)
}

const trueOrFalse = z.literal([true, false]) // as a list of values, because its refusal names them
const fromWord = (sent: unknown) => (sent === 'true' ? true : sent === 'false' ? false : sent)

/** true or false as a word, in a query parameter. In a body it is a plain `z.boolean()`. */
export const flagField = z.preprocess(fromWord, trueOrFalse)
/** As {@link flagField}, and false if it is not given. */
export const flagOrFalse = z.preprocess(fromWord, trueOrFalse.default(false))

/** A query parameter that may be repeated, up to `most` times. */
export function several<T extends z.ZodType<string>>(one: T, most: number) {
  return z.union([one.transform((value) => [value]), z.array(one).min(1).max(most)])
}

// Cc: control characters; Zl, Zp: line and paragraph separators; Cs: lone surrogates; the rest are bidi overrides,
// which can disguise a label.
const INVISIBLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u

// What cannot be seen without something else: ignorable and format characters (zero-width spaces, fillers), separators,
// accents, and the blank of Braille.
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Cf}\p{Z}\p{M}\u2800]/u

/** A text that is opaque to us, of up to `max` characters (UTF-16): without control characters and lone surrogates. */
export function opaqueText(max: number) {
  return z
    .string()
    .max(max)
    .refine((text) => !INVISIBLE.test(text), 'must not contain control characters')
}

/** A label: 1 to `max` characters (code points) after trimming, without control characters, of which one is visible. */
export function visibleText(max: number) {
  return z
    .string()
    .trim()
    .min(1)
    .refine((text) => [...text].length <= max, {
      error: `must be at most ${max} characters long`,
      params: { code: 'out_of_range' },
    })
    .refine((text) => !INVISIBLE.test(text), 'must not contain control characters')
    .refine((text) => text === '' || VISIBLE.test(text), 'must contain a visible character')
    .meta({ minLength: 1, maxLength: max })
}
