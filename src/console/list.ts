import type { Context } from 'hono'
import { type Query, run } from '../db/client'
import type { HttpEnv } from '../http/context'
import { type Page, paging } from '../http/page'

const ROWS = 50

/** The page of a list that the address asks for, from what reads rows before an id. @throws {Fault} `invalid_cursor` */
export async function pageOf<Row extends { id: string }>(
  c: Context<HttpEnv>,
  list: string,
  read: (before: string | null, limit: number) => Query<Row[]>,
): Promise<Page<Row>> {
  const { before, take, page } = paging(`console/${list}`, { limit: ROWS, cursor: c.req.query('cursor') })
  return page(await run(c.get('rt').db, read(before, take)), (row) => row)
}
