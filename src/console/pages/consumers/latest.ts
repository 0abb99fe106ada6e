import { MAX_CUSTOMER_LIST_BYTES } from '../../../billing/limits'
import { isListedObject } from '../../../billing/read/list'
import { presentObject, type ShownObjects } from '../../../billing/read/present'
import { type ListedRow, listObjects } from '../../../billing/read/store'
import type { Link } from '../../../consumers/links'
import { batch, type Queries, type Query, type Results } from '../../../db/client'
import { plansIn } from '../../../entitlements/named'
import { projectOf } from '../../../http/auth'
import type { ObjectKind } from '../../../lib/billing-kinds'
import type { Visit } from '../../page'
import type { NamesOf } from '../billing/columns'
import { namesIn } from '../billing/find'

/** Customers whose subscriptions, purchases, invoices and payment methods the page shows, and how many of each kind. */
const OF_CUSTOMERS = 5
const OBJECTS = { subscription: 10, purchase: 20, invoice: 10, payment_method: 10 }
type ShownKinds = keyof typeof OBJECTS

/** Objects of one kind of a consumer's customers, the latest change first. `more`: there are, or may be, others. `namesOf`: their plans, on the tab
 * that lists them. */
export type Latest<K extends ObjectKind> = { data: ShownObjects[K][]; more: boolean; namesOf: NamesOf }

/** What the customers of a consumer have. */
export type LatestObjects = { [K in ShownKinds]: Latest<K> }

/**
 * Reads what the first customers have, of each kind what changed last.
 *
 * @param named whether their plans are read too, and payment methods
 * @param more statements for the same trip, whose results are `found`
 */
export async function readLatest<Q extends Queries>(
  c: Visit,
  customers: readonly Link[],
  { named, more }: { named: boolean; more: Q },
): Promise<{ latest: LatestObjects; found: Partial<Results<Q>> }> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const some = customers.slice(0, OF_CUSTOMERS)
  // No other tab, and not the beginning of the page, says anything of payment methods.
  const kinds = (Object.keys(OBJECTS) as ShownKinds[]).filter((kind) => named || kind !== 'payment_method')
  const plans = named ? plansIn(project) : undefined
  const lists = kinds.flatMap((kind) =>
    some.map(({ vendor, id }, n): [string, Query<ListedRow[]>] => {
      const page = { before: null, take: OBJECTS[kind] + 1, bytes: MAX_CUSTOMER_LIST_BYTES }
      const beside = kind === 'subscription' || kind === 'purchase' ? plans : undefined
      return [`${kind} ${n}`, listObjects(db, project, kind, { filters: { customer: id, vendor }, beside, ...page })]
    }),
  )
  const queries: Queries = { ...Object.fromEntries(lists), ...more }
  const read = some.length === 0 ? {} : await batch(db, queries)
  const found = read as Record<string, ListedRow[]>
  const latest = <K extends ShownKinds>(kind: K): Latest<K> => {
    const rows = some.flatMap((_, n) => found[`${kind} ${n}`] ?? [])
    const objects = rows.filter(isListedObject).sort((a, b) => (a.updated < b.updated ? 1 : -1))
    const most = OBJECTS[kind]
    const more = objects.length > most || objects.length < rows.length || customers.length > some.length
    return {
      data: objects.slice(0, most).map((row) => presentObject(kind, row)),
      more,
      namesOf: namesIn(named ? rows : []),
    }
  }
  return {
    latest: {
      subscription: latest('subscription'),
      purchase: latest('purchase'),
      invoice: latest('invoice'),
      payment_method: latest('payment_method'),
    },
    found: read as Partial<Results<Q>>,
  }
}
