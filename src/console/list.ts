import { type Order, type Page, paging } from '../http/page'
import type { Visit } from './page'
import type { SortedBy } from './ui/table'

/** The number of rows on a page of a list. */
export const ROWS = 50

/** A page of a list. `counts`: whether the first one is also to say how many rows the list has: see {@link totalOn}. */
export type Part = { limit: number; cursor: string | undefined; counts?: boolean }

/** The page of a list that the address asks for. */
export function pageAsked(c: Visit, rows = ROWS): Omit<Part, 'counts'> {
  return { limit: rows, cursor: c.req.query('cursor') }
}

/**
 * Reads the page of a list that the address asks for.
 *
 * @param list the list's name; a cursor is valid for one list only
 * @param read reads up to `limit` rows with ids below `before`, newest first
 * @param rows how many a page has
 * @throws {Fault} `invalid_cursor`
 */
export async function readList<Row extends { id: string }>(
  c: Visit,
  list: string,
  read: (before: string | null, limit: number) => Promise<Row[]>,
  rows = ROWS,
): Promise<Page<Row>> {
  const { before, take, page } = paging(`console/${list}`, pageAsked(c, rows))
  return page(await read(before, take), (row) => row)
}

/**
 * How many rows a list has. Only the first page says it. If there is no other page, these are the rows on it. Null if it is not known.
 *
 * @param counted what the database has counted: null if that says nothing
 */
export function totalOn(
  { data, next_cursor }: Pick<Page<unknown>, 'data' | 'next_cursor'>,
  cursor: string | undefined,
  counted: number | null,
): number | null {
  if (cursor !== undefined) return null
  return next_cursor === null ? data.length : counted
}

/**
 * Adds the filled-in fields of a filter form to a query, from the address that the form leads to. A time without a zone
 * is in UTC.
 */
export function addFilled(query: URLSearchParams, sent: URLSearchParams, names: readonly string[]): void {
  for (const name of names) {
    const text = sent.get(name)?.trim() ?? ''
    if (text !== '') query.set(name, inUtc(text))
  }
}

/** The address with some parameters changed: a list replaces all values of a parameter, and null removes it. */
export function changed(address: URLSearchParams, changes: Record<string, string | readonly string[] | null>): string {
  const query = new URLSearchParams(address)
  for (const [name, values] of Object.entries(changes)) {
    query.delete(name)
    for (const value of values === null ? [] : [values].flat()) query.append(name, value)
  }
  return `?${query}`
}

/** The ids of the rows that were ticked in a list, each once, or that the form about them names. */
export function chosenIn(c: Visit): string[] {
  const ids = c.req.method === 'POST' ? c.get('form').getAll('id') : (c.req.queries('id') ?? [])
  return [...new Set(ids)]
}

/** The order of a list, from its address; undefined if it is the default, the newest first. */
export function orderIn(query: URLSearchParams): Order | undefined {
  return query.get('order') === 'asc' ? 'asc' : undefined
}

/** The column that a list is sorted by, with the address of the other order. */
export function sortedBy(head: string, order: Order | undefined, address: URLSearchParams): SortedBy {
  const other = changed(address, { order: order === 'asc' ? null : 'asc', cursor: null })
  return { head, order: order ?? 'desc', other }
}

/** A time of a form's field, which has no zone, in UTC. Any other text as it is. */
export function inUtc(text: string): string {
  const local = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text)
  return local ? `${text.padEnd(19, ':00')}Z` : text
}
