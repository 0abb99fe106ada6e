import { countObjects } from '../../../billing/read/count'
import { sortable } from '../../../billing/read/fields'
import { isListedObject, listing } from '../../../billing/read/list'
import { presentObject, type ShownObjects } from '../../../billing/read/present'
import { type ListedRow, listObjects, type ReadBeside } from '../../../billing/read/store'
import { type CalledPlan, callPlans } from '../../../catalog/plans'
import { hasItemOf } from '../../../catalog/sold'
import { customerSetOf } from '../../../consumers/owned'
import { refToRead } from '../../../consumers/ref'
import { batchCounting } from '../../../db/total'
import { type Named, namedOf } from '../../../entitlements/named'
import { projectOf } from '../../../http/auth'
import type { Order, Page } from '../../../http/page'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { DAY, iso } from '../../../lib/time'
import { addFilled, orderIn, type Part, totalOn } from '../../list'
import type { Visit } from '../../page'
import type { Span, TimeFilter } from '../../ui/filters'
import type { NamesOf } from './columns'
import type { ObjectList } from './object-list'

/** The filters of a list of billing objects. */
export type Asked = Record<
  'customer' | 'consumer' | 'status' | 'plan' | 'created_after' | 'updated_after',
  string | undefined
> &
  Record<'livemode' | 'overdue', boolean | undefined> & { order: Order | undefined }

/**
 * A page of a list, with the names that belong to its objects. `total`: see {@link totalOn}. `plans`: those to filter by; none in a file, and
 * for objects without that filter.
 */
export type Listed<K extends ObjectKind> = Page<ShownObjects[K]> & {
  truncated: boolean
  namesOf: NamesOf
  total: number | null
  plans: readonly CalledPlan[]
}

const MODES = new Map<string | null, boolean>([
  ['true', true],
  ['false', false],
])

/** Time spans to choose from. */
export const SPANS: readonly Span[] = [
  ['24h', 'Last 24 hours', DAY],
  ['7d', 'Last 7 days', 7 * DAY],
  ['30d', 'Last 30 days', 30 * DAY],
]
/** The filters by time, as they are called on the page. */
export const TIMES = {
  Created: { within: 'created_within', bounds: ['created_after'], spans: SPANS },
  Updated: { within: 'updated_within', bounds: ['updated_after'], spans: SPANS },
} as const satisfies Record<string, TimeFilter>

const CAN_BE_OVERDUE: readonly ObjectKind[] = ['subscription', 'invoice']
const NAMES = ['customer', 'consumer', 'status', 'plan', 'livemode', 'overdue', 'order'] as const

/** The filters of an address, as an address. What is no filter is left out: a time that is none, or a span beside a bound. */
export function addressOf(sent: URLSearchParams, kind: ObjectKind): URLSearchParams {
  const address = new URLSearchParams()
  addFilled(address, sent, NAMES)
  if (kind !== 'subscription') address.delete('plan')
  if (!CAN_BE_OVERDUE.includes(kind) || address.get('overdue') !== 'true') address.delete('overdue')
  for (const { within, bounds } of Object.values(TIMES)) {
    addFilled(address, sent, bounds)
    for (const bound of bounds) if (sortable(address.get(bound) ?? '') === null) address.delete(bound)
    if (spanOf(sent.get(within)) !== undefined && !bounds.some((bound) => address.has(bound)))
      address.set(within, sent.get(within) ?? '')
  }
  return address
}

const spanOf = (name: string | null) => SPANS.find(([one]) => one === name)?.[2]

/** The filters of an address. @param now milliseconds, at which a time span ends */
export function askedIn(sent: URLSearchParams, kind: ObjectKind, now: number): Asked {
  const address = addressOf(sent, kind)
  const since = ({ within, bounds: [bound] }: (typeof TIMES)[keyof typeof TIMES]) => {
    const span = spanOf(address.get(within))
    return address.get(bound) ?? (span === undefined ? undefined : iso(now - span))
  }
  return {
    customer: address.get('customer') ?? undefined,
    consumer: address.get('consumer') ?? undefined,
    status: address.get('status') ?? undefined,
    plan: address.get('plan') ?? undefined,
    livemode: MODES.get(address.get('livemode')),
    created_after: since(TIMES.Created),
    updated_after: since(TIMES.Updated),
    overdue: address.has('overdue') || undefined,
    order: orderIn(address),
  }
}

/** Reads a page of a list. @throws {Fault} `invalid_cursor` */
export async function findListed<K extends ObjectKind>(
  c: Visit,
  { kind, showsPlans }: ObjectList<K>,
  asked: Asked,
  { counts = false, ...part }: Part,
): Promise<Listed<K>> {
  const { db, now } = c.get('rt')
  const { consumer, customer, plan } = asked
  const objects = listing(kind, { ...asked, ...part }, now)
  const project = projectOf(c.get('actor'))
  const customers = consumer === undefined ? undefined : customerSetOf(project, refToRead(consumer), customer)
  const by = { ...objects, customers, onItems: plan === undefined ? undefined : hasItemOf(project, plan) }
  const beside: ReadBeside = (of) => namedOf(project, of, { consumer: true, plans: showsPlans })
  const count = counts && part.cursor === undefined ? countObjects(db, project, kind, by) : null
  const offered: { plans?: ReturnType<typeof callPlans> } =
    counts && kind === 'subscription' ? { plans: callPlans(db, project) } : {}
  const list = { rows: listObjects(db, project, kind, { ...by, beside }), ...offered }
  const [{ rows, plans = [] }, counted] = await batchCounting(db, list, count)
  const page = objects.page(rows, (row) => presentObject(kind, row))
  return { ...page, namesOf: namesIn(rows), total: totalOn(page, part.cursor, counted?.n ?? null), plans }
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
