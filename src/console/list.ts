import type { Context } from 'hono'
import { type Query, run } from '../db/client'
import type { HttpEnv } from '../http/context'
import { type Page, paging } from '../http/page'

/** Rows of a page of every list. */
export const ROWS = 50

/** What a list's address asks for: where to read on, and how many rows. */
export function pageAsked(c: Context<HttpEnv>): { limit: number; cursor: string | undefined } {
  return { limit: ROWS, cursor: c.req.query('cursor') }
}

/** The page of a list that the address asks for, from what reads rows before an id. @throws {Fault} `invalid_cursor` */
export async function readList<Row extends { id: string }>(
  c: Context<HttpEnv>,
  list: string,
  read: (before: string | null, limit: number) => Query<Row[]> | Promise<Row[]>,
): Promise<Page<Row>> {
  const { before, take, page } = paging(`console/${list}`, pageAsked(c))
  const asked = read(before, take)
  return page(asked instanceof Promise ? await asked : await run(c.get('rt').db, asked), (row) => row)
}
