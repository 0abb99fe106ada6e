import { sortable } from '../../../billing/read/fields'
import { isListedObject, listing } from '../../../billing/read/list'
import { presentObject, type ShownObjects } from '../../../billing/read/present'
import { type ListedRow, listObjects, type ReadBeside } from '../../../billing/read/store'
import { customerSetOf } from '../../../consumers/owned'
import { refToRead } from '../../../consumers/ref'
import { run } from '../../../db/client'
import { type Named, namedOf } from '../../../entitlements/named'
import { projectOf } from '../../../http/auth'
import type { Order, Page } from '../../../http/page'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { inUtc, orderIn } from '../../list'
import type { Visit } from '../../page'
import type { NamesOf } from './columns'
import type { ObjectList } from './object-list'

/** The filters of a list of billing objects. */
export type Asked = Record<'customer' | 'consumer' | 'status' | 'created_after' | 'updated_after', string | undefined> &
  Record<'livemode' | 'overdue', boolean | undefined> & { order: Order | undefined }

/** A page of a list, with the names that belong to its objects. */
export type Listed<K extends ObjectKind> = Page<ShownObjects[K]> & { truncated: boolean; namesOf: NamesOf }

const MODES = new Map<string | null, boolean>([
  ['true', true],
  ['false', false],
])

/** The filters of an address. */
export function askedIn(query: URLSearchParams, kind: ObjectKind): Asked {
  return {
    customer: query.get('customer')?.trim() || undefined,
    consumer: query.get('consumer')?.trim() || undefined,
    status: query.get('status') || undefined,
    livemode: MODES.get(query.get('livemode')),
    created_after: timeIn(query.get('created_after')),
    updated_after: timeIn(query.get('updated_after')),
    overdue: kind === 'subscription' && query.get('overdue') === 'true' ? true : undefined,
    order: orderIn(query),
  }
}

/** A time of the address. What is not a time is no filter. */
function timeIn(text: string | null): string | undefined {
  const time = inUtc(text?.trim() ?? '')
  return sortable(time) === null ? undefined : time
}

/** Reads a page of a list. @throws {Fault} `invalid_cursor` */
export async function findListed<K extends ObjectKind>(
  c: Visit,
  { kind, showsPlans }: ObjectList<K>,
  asked: Asked,
  part: { limit: number; cursor: string | undefined },
): Promise<Listed<K>> {
  const { db, now } = c.get('rt')
  const { consumer, customer } = asked
  const objects = listing(kind, { ...asked, ...part }, now)
  const project = projectOf(c.get('actor'))
  const customers = consumer === undefined ? undefined : customerSetOf(project, refToRead(consumer), customer)
  const beside: ReadBeside = (of) => namedOf(project, of, { consumer: true, plans: showsPlans })
  const rows = await run(db, listObjects(db, project, kind, { ...objects, customers, beside }))
  return { ...objects.page(rows, (row) => presentObject(kind, row)), namesOf: namesIn(rows) }
}

/** The names that were read beside objects of one kind. */
export function namesIn(rows: readonly ListedRow[]): NamesOf {
  const keyOf = (vendor: string, id: string) => `${vendor} ${id}`
  const all = rows
    .filter(isListedObject)
    .map(({ vendor, vendor_id, beside }) => [keyOf(vendor, vendor_id), beside as Named] as const)
  const byKey = new Map(all)
  return ({ vendor, id }) => byKey.get(keyOf(vendor, id))
}
