import type { Child, PropsWithChildren } from 'hono/jsx'

/** A column: its head, and what it shows of a row. A head without a name is one of buttons. */
export type Column<Row> = readonly [head: string, cell: (row: Row) => Child]

type TableProps<Row> = PropsWithChildren<{
  label: string
  columns: readonly Column<Row>[]
  rows?: readonly Row[]
}>

/** Rows of cells, or cards on a narrow screen. Give children to put another body in the place of plain rows. */
export function Table<Row>({ label, columns, rows, children }: TableProps<Row>) {
  return (
    <section class="rows" aria-label={label} tabindex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([head]) => (
              <th scope="col">{head === '' ? <span class="unseen">Actions</span> : head}</th>
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

/** The cells of a row. On a narrow screen, where a row is a card, each but the first says what it is. */
export function Cells<Row>({ columns, row }: { columns: readonly Column<Row>[]; row: Row }) {
  return (
    <>
      {columns.map(([head, cell], index) => (
        <td class={head === '' ? 'actions' : undefined} data-label={index === 0 ? undefined : head}>
          {cell(row)}
        </td>
      ))}
    </>
  )
}
