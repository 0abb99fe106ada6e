import * as z from 'zod'
import { type Change, mayRead, mayReadAll, presentChange, typesField } from '../../../feed/fields'
import { changesInOrder } from '../../../feed/read'
import { CHANGE_TYPES, type ChangeType } from '../../../feed/types'
import { projectOf } from '../../../http/auth'
import { type Order, type Page, paging } from '../../../http/page'
import { Fault } from '../../../lib/fault'
import { orderIn, type Part, totalOn } from '../../list'
import type { Visit } from '../../page'
import { type Mistakes, parse, refusalOf } from '../../refusal'

const Filter = z.strictObject({ types: typesField })

/** What the address says for changes of all types. If it says nothing, those of webhook events are left out: there is one for each event. */
export const ALL_TYPES = 'all'
const USUAL_TYPES = new Set(
  Object.keys(CHANGE_TYPES).filter((type) => !type.startsWith('webhook_event.')) as ChangeType[],
)

/** The types to list, undefined for all, and the text of the address that names them; and the order. */
type AskedTypes = Partial<z.infer<typeof Filter>> & { text: string; order: Order | undefined }

export type FoundChanges = Page<Change> & { total: number | null }

/** Reads a page of the changes that the visitor may read. `total`: see {@link totalOn}. */
export async function findChanges(
  c: Visit,
  { text, types, order = 'desc' }: AskedTypes,
  part: Omit<Part, 'counts'>,
): Promise<FoundChanges> {
  const { scopes } = c.get('actor')
  const list = paging(`console/changes/${text}/${order}`, part)
  const filtered = types !== undefined || !mayReadAll(scopes)
  const { data, next, kept, epoch } = await changesInOrder(c.get('rt').db, projectOf(c.get('actor')), {
    order,
    from: list.before === null ? null : readNumber(list.before),
    limit: part.limit,
    filtered,
    shows: ({ type }) => (!types || types.has(type as ChangeType)) && mayRead(scopes, type),
  })
  const shown = data.map((change) => presentChange(change, epoch))
  const page = list.upTo(shown, next === null ? null : String(next))
  return { ...page, total: totalOn(page, part.cursor, filtered ? null : kept) }
}

/** What the address asks for, or what is wrong with its types. */
export function readFilter(query: URLSearchParams): AskedTypes | { mistakes: Mistakes } {
  const text = query.get('types') ?? ''
  const asked = { text, order: orderIn(query) }
  if (text === ALL_TYPES) return asked
  if (text === '') return { ...asked, types: USUAL_TYPES }
  try {
    return { ...asked, ...parse(Filter, { types: text }) }
  } catch (error) {
    return { mistakes: refusalOf(error).mistakes }
  }
}

/** @throws {Fault} `invalid_cursor` */
export function readNumber(key: string): number {
  if (/^\d{1,15}$/.test(key)) return Number(key)
  throw new Fault('invalid_cursor', 'Start the list again on its first page.')
}
