import * as z from 'zod'
import { crc32Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { exampleOf, named, wholeNumber } from './fields'
import { SAMPLE } from './samples'

/** Query parameters of every list. */
export const pageFields = {
  limit: wholeNumber(z.int().min(1).max(100).default(20)).describe('Number of rows on a page.'),
  cursor: z
    .string()
    .max(400)
    .optional()
    .describe('`next_cursor` of the previous page. It is valid only for the same path and filters.'),
}

/** The order of a list that can be read in both. */
export const OrderName = named('Order', z.enum(['desc', 'asc']))
export type Order = z.infer<typeof OrderName>

/**
 * The envelope of every list. `Row` is a named schema, and so is its list.
 *
 * @param more further fields, as a schema with an example
 */
export function listOf<T extends z.ZodType, S extends z.ZodRawShape = NoFields>(
  Row: T,
  more = NO_FIELDS as z.ZodObject<S>,
) {
  const list = envelope(Row).extend(more.shape)
  return named(`${Row.meta()?.id}List`, list, { data: [exampleOf(Row)], ...NEXT, ...exampleOf(more) } as never)
}

/** The envelope of a list whose pages can end before they are full. @param more as of {@link listOf} */
export function boundedListOf<T extends z.ZodType, S extends z.ZodRawShape = NoFields>(
  Row: T,
  more = NO_FIELDS as z.ZodObject<S>,
) {
  const bounded = envelope(Row).extend({
    truncated: z.boolean().describe('Whether the page reached its limit of rows to read before it was full.'),
    ...more.shape,
  })
  const example = { data: [exampleOf(Row)], ...NEXT, truncated: false, ...exampleOf(more) }
  return named(`${Row.meta()?.id}BoundedList`, bounded, example as never)
}

type NoFields = Record<never, z.ZodType>
const NO_FIELDS = z.object({})

const NEXT = { has_more: true, next_cursor: SAMPLE.cursor }

function envelope<T extends z.ZodType>(Row: T) {
  return z.object({
    data: z.array(Row),
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe('Pass it as `cursor` to get the next page. Null on the last page.'),
  })
}

/** A page of a list, as returned. */
export type Page<T> = { data: T[]; has_more: boolean; next_cursor: string | null }

/**
 * What a cursor is bound to: the name of the list and its filters. `view` is left out, because it changes how much of a
 * row is shown, not which rows. The project is not part of it either: every query has its own condition for that.
 */
function cursorBinding(list: string, filters: Record<string, unknown>): string {
  const { limit: _limit, cursor: _cursor, view: _view, ...rest } = filters
  const parts = Object.entries(rest).filter(([, value]) => value !== undefined)
  return JSON.stringify([list, parts.sort(([a], [b]) => (a < b ? -1 : 1))])
}

/**
 * The key of the last row of the previous page, from a cursor with the same binding; null without a cursor.
 *
 * @throws {Fault} `invalid_cursor` for a damaged cursor, or one of another list or filter
 */
function readCursor(binding: string, cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  try {
    const text = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    const key = text.slice(8)
    if (text.slice(0, 8) === crc32Hex(binding + key) && key !== '') return key
  } catch {
    // Not base64: treated like any other invalid cursor.
  }
  throw new Fault(
    'invalid_cursor',
    'Pass next_cursor unchanged, with the same path and filters, or start again without a cursor.',
  )
}

/**
 * A requested page of a list: where it starts, how many rows to read, and the page made from them. The cursor is bound
 * to the list's name and its filters.
 *
 * @param asked the query of a list: `limit`, `cursor` and the list's filters
 * @param keyOf the key that the list is sorted by; the row's id by default
 */
export function paging<Key = { id: string }>(
  list: string,
  asked: { limit: number; cursor?: string | undefined },
  keyOf: (row: Key) => string = (row) => (row as { id: string }).id,
) {
  const binding = cursorBinding(list, asked)
  /**
   * A page of rows that have already been chosen.
   *
   * @param resume the key after which to continue; null at the end of the list
   */
  const upTo = <T>(data: T[], resume: string | null): Page<T> => {
    return { data, has_more: resume !== null, next_cursor: resume === null ? null : makeCursor(binding, resume) }
  }
  return {
    /** The key of the last row of the previous page; null on the first page. */
    before: readCursor(binding, asked.cursor),
    /** One row more than the page shows, to know whether there are more. */
    take: asked.limit + 1,
    /** @param most how many of these rows fit on the page, if that may be fewer than `limit` */
    page: <Row extends Key, T>(rows: readonly Row[], present: (row: Row) => T, most = asked.limit): Page<T> => {
      const shown = rows.slice(0, Math.min(asked.limit, most))
      const last = shown.at(-1)
      return upTo(shown.map(present), last && rows.length > shown.length ? keyOf(last) : null)
    },
    upTo,
    /**
     * A page from a read that stopped at a bound of its own before the page was full (`truncated`).
     *
     * @param resume the key after which to continue; null if the read reached its end
     */
    stopped: <T>(page: Page<T>, resume: string | null): Page<T> & { truncated: boolean } =>
      page.has_more || resume === null
        ? { ...page, truncated: false }
        : { ...upTo(page.data, resume), truncated: true },
  }
}

/** The cursor of the page that starts after the row with this key. */
function makeCursor(binding: string, key: string): string {
  return btoa(crc32Hex(binding + key) + key)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}
