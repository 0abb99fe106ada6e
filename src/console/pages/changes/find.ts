import * as z from 'zod'
import { type Change, mayRead, mayReadAll, presentChange, typesField } from '../../../feed/fields'
import { newestChanges } from '../../../feed/read'
import type { ChangeType } from '../../../feed/types'
import { projectOf } from '../../../http/auth'
import { type Page, paging } from '../../../http/page'
import { Fault } from '../../../lib/fault'
import { type Part, totalOn } from '../../list'
import type { Visit } from '../../page'
import { type Mistakes, parse, refusalOf } from '../../refusal'

const Filter = z.strictObject({ types: typesField })

/** The types to list, and the text of the address that names them. */
type AskedTypes = z.infer<typeof Filter> & { text: string }

export type FoundChanges = Page<Change> & { total: number | null }

/** Reads a page of the changes that the visitor may read, newest first. `total`: see {@link totalOn}. */
export async function findChanges(
  c: Visit,
  { text, types }: AskedTypes,
  part: Omit<Part, 'counts'>,
): Promise<FoundChanges> {
  const { scopes } = c.get('actor')
  const list = paging(`console/changes/${text}`, part)
  const filtered = types !== undefined || !mayReadAll(scopes)
  const { data, before, kept, epoch } = await newestChanges(c.get('rt').db, projectOf(c.get('actor')), {
    before: list.before === null ? null : readNumber(list.before),
    limit: part.limit,
    filtered,
    shows: ({ type }) => (!types || types.has(type as ChangeType)) && mayRead(scopes, type),
  })
  const shown = data.map((change) => presentChange(change, epoch))
  const page = list.upTo(shown, before === null ? null : String(before))
  return { ...page, total: totalOn(page, part.cursor, filtered ? null : kept) }
}

/** The types that the address names, or what is wrong with them. */
export function readFilter(text: string): AskedTypes | { mistakes: Mistakes } {
  try {
    return { text, ...parse(Filter, text === '' ? {} : { types: text }) }
  } catch (error) {
    return { mistakes: refusalOf(error).mistakes }
  }
}

/** @throws {Fault} `invalid_cursor` */
export function readNumber(key: string): number {
  if (/^\d{1,15}$/.test(key)) return Number(key)
  throw new Fault('invalid_cursor', 'Start the list again on its first page.')
}
