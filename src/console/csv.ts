import { Hono } from 'hono'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { writeLog } from '../http/log'
import type { Page } from '../http/page'
import { countRead, inTurn } from '../http/rate-limit'
import type { Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { isoDay } from '../lib/time'
import { page, type Visit } from './page'
import type { Mistakes } from './refusal'

/** Rows that one read of a download asks for. */
const ROWS_READ = 200
/** How often a download reads. D1 answers a request so many statements only, and a page of a search takes a few. */
const MOST_READS = 100
/** How long a download waits before it reads again (ms), so that the other requests of the project come first. */
const PAUSE_MS = 20

/** A column of a file: its heading, and the value of a row. */
export type CsvColumn<Row> = readonly [head: string, value: (row: Row) => Value]
type Value = string | number | boolean | null | undefined

/** Reads the page of a list that begins at the cursor. `cut`: there may be more that no page of it has. */
type ReadPage<Row> = (asked: { limit: number; cursor: string | undefined }) => Promise<Page<Row> & { cut?: boolean }>

type Csv<Row> = {
  /** The path of the list. Its file is at `<path>/csv`, and takes the same filters. */
  at: string
  /** What the file is called, before its date. */
  name: string
  needs: Scope
  columns: readonly CsvColumn<Row>[]
  /** Reads the filters of the address, and returns what reads the pages. @throws what is wrong with the filters */
  list: (c: Visit) => ReadPage<Row>
}

/** What is wrong with the filters of a file, which has no form to say it. */
export const wrongFilters = (mistakes: Mistakes) => new Fault('validation_failed', Object.values(mistakes).join(' '))

/**
 * A list as a file of comma-separated values (RFC 4180), with all rows that its filters find. It reads page after page, each when
 * the reader has taken the one before, so it never holds more than one. Each page takes a turn among the project's costly calls, so
 * several downloads read no more at a time than one. What is wrong with the first page is an error page.
 * If a later one cannot be read, the answer is cut off, and browsers report a failed download. A file that is not whole
 * because the list is too long says so in its last line.
 */
export function csv<Row>({ at, name, needs, columns, list }: Csv<Row>): Hono<HttpEnv> {
  return new Hono<HttpEnv>().get(`${at}/csv`, page(needs, { costly: true }), async (c) => {
    const read = list(c)
    const first = await read({ limit: ROWS_READ, cursor: undefined })
    const parts = partsOf(columns, (asked) => inTurn(c.get('actor'), () => read(asked)), first)
    return c.body(streamed(counted(c, parts), projectOf(c.get('actor'))), 200, {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}-${isoDay(c.get('rt').now)}.csv"`,
    })
  })
}

/** Counts what was read while the file was sent against the limits of the project, also if the reader hangs up. */
async function* counted(c: Visit, parts: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* parts
  } finally {
    await countRead(c, c.get('rt').cost().rows_read)
  }
}

/** The text of the file, page by page. */
async function* partsOf<Row>(
  columns: readonly CsvColumn<Row>[],
  read: ReadPage<Row>,
  first: Page<Row> & { cut?: boolean },
) {
  const textOf = (rows: readonly Row[]) =>
    rows.map((row) => line(columns.map(([, value]) => cell(value(row))))).join('')
  yield line(columns.map(([head]) => head)) + textOf(first.data)
  let rows = first.data.length
  let next = first.next_cursor
  for (let reads = 1; next !== null; reads++) {
    if (reads === MOST_READS) {
      yield line([
        cell(`This file ends after ${rows} rows, but the list has more. Narrow the filters to export the rest.`),
      ])
      return
    }
    await scheduler.wait(PAUSE_MS)
    const page = await read({ limit: ROWS_READ, cursor: next })
    yield textOf(page.data)
    rows += page.data.length
    next = page.next_cursor
  }
  if (first.cut) {
    yield line([cell(`This file has ${rows} rows, but more may match. Narrow the search to export the rest.`)])
  }
}

function streamed(parts: AsyncGenerator<string>, project: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let hasLeft = false
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await parts.next()
          if (hasLeft) return // while the page was read
          if (done) controller.close()
          else controller.enqueue(encoder.encode(value))
        } catch (error) {
          writeLog('error', 'csv_cut_off', { project, error: String(error) })
          controller.error(error)
        }
      },
      cancel: async () => {
        hasLeft = true
        await parts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`

/** A spreadsheet takes a cell that begins so for a formula, and a formula can send the other cells elsewhere. */
const FORMULA = /^\s*[=+\-@＝＋－＠\t\r\n]/
const NUMBER = /^-?\d+(\.\d+)?$/

/** A cell of the file. A text that a spreadsheet would calculate gets an apostrophe before it. */
function cell(value: Value): string {
  const text = String(value ?? '')
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
  return /[",;\s]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
