import type { Db } from '../../db/client'
import { checksOf } from './conditions'
import type { Filters } from './filters'
import { type Read, readSearchFacts, scanned } from './find'
import { chooseIndex } from './indexes'
import { MAX_BESIDE } from './limits'
import { commonEnd, merged, rangeOf } from './search'

/** The event on one side of another one in a list: its id; null at the end of the list, and `unknown` if none of the {@link MAX_BESIDE} nearest matches. */
export type Neighbor = string | null | 'unknown'

type Side = 'above' | 'below'
const OTHER = { asc: 'desc', desc: 'asc' } as const

/**
 * The statements that read the events above and below another one in a list. Where no condition is to be checked, each reads one row of an
 * index, or one for each of its keys. Only some filters need a round trip before that.
 *
 * @param id of the event. It need not be in the list
 */
export async function besideOf(db: Db, project: string, filters: Filters, id: string) {
  const facts = await readSearchFacts(db, project, filters)
  const { index, keys } = chooseIndex(filters, facts)
  const checks = checksOf(project, filters, facts, index.answers)
  const limit = checks === null ? 1 : Math.max(1, Math.floor(MAX_BESIDE / Math.max(1, keys.length)))
  const on = (side: Side) => (side === 'below' ? filters : { ...filters, order: OTHER[filters.order] })
  const read = (side: Side) => {
    return scanned(db, project, on(side), { index, keys, checks, range: rangeOf(on(side), id), limit })
  }
  /** What the statement of a side has found. */
  const found = (side: Side, rows: readonly { read: Read }[]): Neighbor => {
    const { order } = on(side)
    const lists = rows.map((row) => row.read)
    const end = commonEnd(lists, limit, order)
    return merged(lists, end, order)[0] ?? (end === null ? null : 'unknown')
  }
  return { reads: { above: read('above'), below: read('below') }, found }
}
