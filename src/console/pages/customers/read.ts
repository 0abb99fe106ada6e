import { namesOfCustomers } from '../../../billing/customers/names'
import type { CustomerKey } from '../../../billing/customers/read'
import { customerNamed, keyIn, keyOf } from '../../../consumers/customer-fields'
import { MAX_CUSTOMERS_COUNTED } from '../../../consumers/limits'
import { countUnlinked, findLinks, isLink, type Link, listLinks } from '../../../consumers/links'
import { batch } from '../../../db/client'
import { batchCounting } from '../../../db/total'
import { projectOf } from '../../../http/auth'
import { type Page, paging } from '../../../http/page'
import { typesOfEvents } from '../../../inbox/events/of-customer'
import { pageAsked, totalOn } from '../../list'
import { pathsOf, type Visit } from '../../page'

/** Customers on a page of the list. */
export const LISTED = 30

/** A customer, which consumer it is, and what its own events call it. `livemode`: null if they do not say it. */
export type ShownCustomer = { link: Link; name: string | null; email: string | null; livemode: boolean | null }

/** The customer that the path names. @throws {Fault} `not_found` if no event could name it */
export function customerIn(c: Visit): CustomerKey {
  return customerNamed(c.req.param('vendor') ?? '', c.req.param('customer') ?? '')
}

/** The path of a customer's page. */
export function customerPath(c: Visit, { vendor, id }: CustomerKey): string {
  return `${pathsOf(c).customers}/${vendor}/${encodeURIComponent(id)}`
}

/** Reads the customer in the path. It may be one that no event has named. */
export async function readCustomer(c: Visit): Promise<ShownCustomer> {
  const [customer] = await readCustomers(c, [customerIn(c)])
  return customer as ShownCustomer
}

/** Reads customers by name, each of them once. */
export async function readCustomers(c: Visit, customers: readonly CustomerKey[]): Promise<ShownCustomer[]> {
  if (customers.length === 0) return []
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const ids = customers.map(({ id }) => id)
  const { links, names } = await batch(db, {
    links: findLinks(db, project, customers),
    names: namesOfCustomers(db, project, ids),
  })
  return links.map((link) => named(link, names))
}

/** Whether a customer waits for a consumer: nobody has linked it, or said that it has none. */
export function isWaiting({ link }: ShownCustomer): boolean {
  return link.consumer_id === null && link.linked_by !== 'manual' && !link.erased
}

/** `typeOf`: of the events that name the consumers, by their ids. */
export type UnlinkedCustomers = Page<ShownCustomer> & {
  truncated: boolean
  total: number | null
  typeOf: ReadonlyMap<string, string>
}

/**
 * Reads a page of the customers that are linked to no consumer; then their names, and the types of the events that name consumers. `total`: see {@link totalOn}.
 *
 * @param settled whether they were marked as no consumer, rather than wait for one
 */
export async function listUnlinked(c: Visit, settled: boolean): Promise<UnlinkedCustomers> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const asked = { ...pageAsked(c, LISTED), settled }
  const list = paging('console/unlinked', asked, keyOf)
  const before = list.before === null ? null : keyIn(list.before)
  const queries = { rows: listLinks(db, project, { linked: false, pinned: settled }, { before, take: list.take }) }
  const counting = before === null ? countUnlinked(db, project, { pinned: settled }) : null
  const [{ rows }, counted] = await batchCounting(db, queries, counting)
  const links = rows.filter(isLink)
  const ids = links.map(({ id }) => id)
  const linking = links.flatMap(({ event_id }) => event_id ?? [])
  const { names, types } =
    ids.length > 0
      ? await batch(db, { names: namesOfCustomers(db, project, ids), types: typesOfEvents(db, project, linking) })
      : { names: [], types: [] }
  const end = rows.find((row) => !isLink(row))
  const page = list.stopped(
    list.page(links, (link) => named(link, names)),
    end ? keyOf(end) : null,
  )
  const isWhole = counted !== null && counted.looked < MAX_CUSTOMERS_COUNTED
  const typeOf = new Map(types.map(({ id, type }) => [id, type]))
  return { ...page, total: totalOn(page, asked.cursor, isWhole ? counted.n : null), typeOf }
}

type Named = Omit<ShownCustomer, 'link'> & CustomerKey

/** What vendors call customers: by name, else by email address. */
export function calledIn(names: readonly Named[]): (customer: CustomerKey) => string | undefined {
  const keyed = new Map(names.map((one) => [keyOf(one), one.name ?? one.email ?? undefined]))
  return (customer) => keyed.get(keyOf(customer))
}

function named(link: Link, names: readonly Named[]): ShownCustomer {
  const own = names.find(({ vendor, id }) => vendor === link.vendor && id === link.id)
  return { link, name: own?.name ?? null, email: own?.email ?? null, livemode: own?.livemode ?? null }
}
