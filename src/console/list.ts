import type { Context } from 'hono'
import type { HttpEnv } from '../http/context'
import { cursorBinding, readCursor, toPage } from '../http/page'

const ROWS = 50

/** The page of a list that the address asks for, from what reads rows before an id. @throws {Fault} `invalid_cursor` */
export async function pageOf<Row extends { id: string }>(
  c: Context<HttpEnv>,
  list: string,
  read: (before: string | null, limit: number) => Promise<Row[]>,
) {
  const binding = cursorBinding(`console/${list}`)
  const rows = await read(readCursor(binding, c.req.query('cursor')), ROWS + 1)
  return toPage(
    rows,
    ROWS,
    binding,
    ({ id }) => id,
    (row) => row,
  )
}
