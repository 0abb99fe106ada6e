import * as z from 'zod'

/** Values of the wrong type for every field. */
export const WRONG: [string, string][] = [
  ['an object', '{"a":{}}'],
  ['a number beyond any', '1e999'],
  ['a huge integer', '123456789012345678901234567890'],
  ['an array nested 20,000 deep', '['.repeat(20_000) + ']'.repeat(20_000)],
]
/** Texts that every field refuses. */
export const BAD_TEXTS: [string, string][] = [
  ['NUL', '\\u0000'],
  ['a newline', 'a\\nb'],
  ['an escape character', '\\u001b[31mred'],
  ['DEL', 'a\\u007fb'],
  ['a lone high surrogate', '\\ud800'],
  ['a lone low surrogate', 'a\\udc00b'],
  ['60,000 characters', 'x'.repeat(60_000)],
]

/** What a number or a boolean of some field could be. */
const NOT_TEXTS = [0, 1, 5, 7, 20, 60, 300, 3600, true, false]

/** The paths in a schema that read a text as a number or a boolean. */
export function coercible(schema: z.ZodType, path: string[]): string[] {
  const own = NOT_TEXTS.some((one) => {
    const read = schema.safeParse(String(one))
    return read.success && typeof read.data === typeof one
  })
  const { shape = {}, ...def } = schema.def as unknown as Record<string, unknown> & {
    shape?: Record<string, z.ZodType>
  }
  const inner = [def.innerType, def.element, def.valueType, def.in, def.out, ...((def.options as unknown[]) ?? [])]
  const parts = inner.filter((one) => one instanceof z.ZodType).flatMap((one) => coercible(one, path))
  const below = Object.entries(shape).flatMap(([name, field]) => coercible(field, [...path, name]))
  return [...new Set([...(own ? [path.join('/')] : []), ...parts, ...below])]
}

/** Whether a field takes a number or a boolean, and no text. */
export function takesNoText(field: z.ZodType): boolean {
  const takes = (one: unknown) => field.safeParse(one).success
  return NOT_TEXTS.some(takes) && !['x', '1', 'ext:1'].some(takes)
}

const KEYS_OF_OBJECT = ['constructor', 'toString', 'hasOwnProperty', '__defineGetter__', '__proto__']
/** Fields that no body has. */
export const UNKNOWN = ['nonsense', 'Name', 'id', 'project_id', 'a/b~c', '', ...KEYS_OF_OBJECT]
/** Parameters that no query has. */
export const UNKNOWN_PARAMETERS = [
  'nonsense=1',
  'nonsense',
  'Limit=5',
  'limit%5B%5D=5',
  '__proto__=1',
  'constructor=x',
  '%00=1',
  '%ff=1',
  'a=1&a=2',
]
