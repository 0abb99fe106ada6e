import type { Child, PropsWithChildren } from 'hono/jsx'
import { ChooseAll } from './choosing'
import { None } from './parts'

/**
 * A column: its heading, and the cell for a row. An empty heading marks a column of buttons. Numbers and amounts stand
 * at the right. Text in an unbroken column does not wrap. One long word in a breaking column does. A wide column has room for a few words on one line.
 * A spare column is hidden where the columns do not fit, but a card has it. A least one is hidden in cards too: never the one that says who
 * or what. A repeated one is hidden where the first cell also has its content. A bare one says what it is without its heading, also in a card.
 */
export type Column<Row> = readonly [head: string, cell: (row: Row) => Child, kind?: Kind | undefined]
type Kind =
  | 'number'
  | 'unbroken'
  | 'breaking'
  | 'wide'
  | 'spare'
  | 'least'
  | 'number spare'
  | 'number least'
  | 'repeated'
  | 'bare'

/** The column of email addresses, in any list that has them. */
export const EMAIL_COLUMN: Column<{ email: string | null }> = [
  'Email address',
  ({ email }) =>
    email && (
      <span class="address cut" title={email}>
        {email}
      </span>
    ),
]

/** The column that a list is sorted by, which leads to the other order. Only where an index has both. */
export type SortedBy = { head: string; order: 'asc' | 'desc'; other: string }

type TableProps<Row> = PropsWithChildren<{
  label: string
  columns: readonly Column<Row>[]
  rows?: readonly Row[]
  /** A class for the style sheet, besides `rows`. */
  class?: string
  sorted?: SortedBy
  /** The numbers of the columns that the style sheet hides, from 1: their cells are there, so that rows of an update fit. */
  without?: readonly number[]
  /** Whether rows can be chosen: the first cell of each begins with its box. */
  choosing?: boolean
}>

const ORDERS = { asc: 'ascending', desc: 'descending' } as const

/** A table; on a narrow screen each row becomes a card. Pass children to replace the table body. */
export function Table<Row>({
  label,
  columns,
  rows,
  sorted,
  without = [],
  choosing,
  children,
  ...look
}: TableProps<Row>) {
  return (
    <section
      class={`rows ${look.class ?? ''}`.trim()}
      aria-label={label}
      tabindex={0}
      data-without={without.join(' ') || undefined}
    >
      <table>
        <thead>
          <tr>
            {columns.map(([head, , kind], index) => (
              <th scope="col" class={kind} aria-sort={sorted?.head === head ? ORDERS[sorted.order] : undefined}>
                {choosing && index === 0 && <ChooseAll />}
                {headingOf(head, sorted)}
              </th>
            ))}
          </tr>
        </thead>
        {children ?? (
          <tbody>
            {rows?.map((row) => (
              <tr>
                <Cells columns={columns} row={row} />
              </tr>
            ))}
          </tbody>
        )}
      </table>
    </section>
  )
}

function headingOf(head: string, sorted: SortedBy | undefined): Child {
  if (head === '') return <span class="unseen">Actions</span>
  return sorted?.head === head ? <a href={sorted.other}>{head}</a> : head
}

/** What a cell shows: a dash if it has no value. A row may have no actions. */
function shown(cell: Child, head: string): Child {
  const blank = cell === null || cell === undefined || cell === false || cell === ''
  return blank && head !== '' ? <None /> : cell
}

/** Whether a narrow screen shows the heading of a column in each cell: not of the first one or a bare one, and it leaves out a least one. */
const isLabeled = (kind: Kind | undefined, index: number) => index > 0 && kind !== 'bare' && !kind?.includes('least')

/** The cells of a row. */
export function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return (
    <>
      {columns.map(([head, cell, kind], index) => (
        <td
          class={head === '' ? 'actions' : kind === 'bare' ? undefined : kind}
          data-label={isLabeled(kind, index) ? head : undefined}
        >
          {shown(cell(row), head)}
        </td>
      ))}
    </>
  )
}
