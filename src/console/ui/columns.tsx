import { type ColumnsOf, hiddenColumns } from '../browser'
import type { Visit } from '../page'
import { Post } from './controls'
import type { Column } from './table'

type Props<Row> = { c: Visit; list: ColumnsOf; columns: readonly Column<Row>[] }

/** The numbers of the columns that are hidden in this browser, from 1. The first column always stays. */
export function withoutColumns<Row>({ c, list, columns }: Props<Row>): number[] {
  const hidden = hiddenColumns(c, list)
  return columns.flatMap(([head], at) => (at > 0 && hidden.includes(head) ? [at + 1] : []))
}

/** A menu of the columns of a list. */
export function ColumnsMenu<Row>({ c, list, columns }: Props<Row>) {
  const hidden = hiddenColumns(c, list)
  return (
    <details class="menu columns">
      <summary>Columns</summary>
      <Post c={c} to="/console/columns">
        <input type="hidden" name="list" value={list} />
        <ul>
          {columns.slice(1).map(([head]) => (
            <li>
              <label>
                <input type="checkbox" name="shown" value={head} checked={!hidden.includes(head)} autocomplete="off" />{' '}
                {head}
              </label>
              <input type="hidden" name="column" value={head} />
            </li>
          ))}
          <li class="last">
            <button type="submit">Apply</button>
          </li>
        </ul>
      </Post>
    </details>
  )
}
