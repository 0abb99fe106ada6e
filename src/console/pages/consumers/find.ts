import { isCutOff } from '../../../consumers/beginning'
import {
  type Consumer,
  countConsumers,
  findConsumer,
  isConsumer,
  type ListedConsumer,
  listConsumers,
} from '../../../consumers/read'
import { type ConsumerRef, EXTERNAL_ID, refOf } from '../../../consumers/ref'
import { CONSUMER_STATES, type ConsumerState } from '../../../consumers/schema'
import { batch, type Query } from '../../../db/client'
import { batchCounting, type Total } from '../../../db/total'
import { listGrantedPlans, listSubscribed, type Subscribed } from '../../../entitlements/subscribed'
import { projectOf } from '../../../http/auth'
import { type Order, type Page, paging } from '../../../http/page'
import { orderIn, type Part, pageAsked, totalOn } from '../../list'
import { can, type Visit } from '../../page'

/** Consumers on a page of the list, and consumers to choose from. Their names can be long. */
const LISTED = 30
const CHOICES = 10
/** A reference that finds nothing. */
const NOBODY: ConsumerRef = { id: '' }

/** The consumer that a typed text names: an external id needs no `ext:`. It finds nothing if the text can be no id. */
function typedRef(text: string): ConsumerRef {
  return refOf(text) ?? (EXTERNAL_ID.test(text) ? { external_id: text } : NOBODY)
}

export type AskedConsumers = { q: string; state: ConsumerState | undefined; order: Order | undefined }

/** The filters of the list, from the address. */
export function askedIn(c: Visit): AskedConsumers {
  const state = CONSUMER_STATES.find((name) => name === c.req.query('state'))
  return { q: (c.req.query('q') ?? '').trim(), state, order: orderIn(new URL(c.req.url).searchParams) }
}

/** A consumer in the list, with the subscription that says most about it, and the names of the plans that are granted to it. */
export type ConsumerRow = Consumer & { subscribed?: Subscribed | undefined; granted?: string[] | undefined }

/** The names of the plans that a subscription pays for, each once. */
export const plansPaidFor = ({ plans }: Subscribed): string[] => [...new Set(plans.map(({ name }) => name))]

/** The consumers of a page with what they have: one trip for all of them. */
export async function withPlans(c: Visit, rows: readonly Consumer[]): Promise<ConsumerRow[]> {
  const ids = rows.map(({ id }) => id)
  if (ids.length === 0 || !can(c, 'billing:read')) return [...rows]
  const { db, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const found = await batch(db, {
    subscribed: listSubscribed(db, project, ids),
    granted: listGrantedPlans(db, project, ids, now),
  })
  const subscribed = new Map(found.subscribed.map((row) => [row.id, row.subscribed]))
  const granted = new Map(found.granted.map((row) => [row.id, row.granted]))
  return rows.map((row) => ({ ...row, subscribed: subscribed.get(row.id), granted: granted.get(row.id) }))
}

/**
 * A page of the list. `truncated`: there may be more on the next page. `cut`: there may be more that no page shows. `total`: see
 * {@link totalOn}.
 */
export type FoundConsumers = Page<Consumer> & { truncated: boolean; cut: boolean; total: number | null }

/** Reads a page of the list: of all consumers, or of the one with the id in `q` and those whose email address, name or external id begins so. */
export async function listFound(
  c: Visit,
  { q, state, order }: AskedConsumers,
  { counts = false, ...part }: Part = { ...pageAsked(c, LISTED), counts: true },
): Promise<FoundConsumers> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const asked = { ...part, q, state, order }
  const list = paging<Pick<Consumer, 'id'>>('console/consumers', asked)
  const begins = q === '' ? undefined : q
  const queries = {
    named: findConsumer(db, project, typedRef(q)),
    rows: listConsumers(db, project, { state, begins, order }, list),
  }
  const all = counts && part.cursor === undefined ? countConsumers(db, project, { state }) : null
  const counting: Query<(Total | { cut: boolean })[]> | null = begins === undefined ? all : isCutOff(db, project, q)
  const [{ named, rows }, counted] = await batchCounting(db, queries, counting)
  const n = counted && 'n' in counted ? counted.n : null
  const cut = counted !== null && 'cut' in counted && counted.cut
  const end = rows.find((row) => !isConsumer(row))
  const page = list.stopped(
    list.page(rows.filter(isConsumer), (row) => row),
    end?.id ?? null,
  )
  // The one with the id comes first, on the first page.
  const first = list.before === null ? named.filter((row) => state === undefined || row.state === state) : []
  const others = page.data.filter(({ id }) => !first.some((row) => row.id === id))
  const data = [...first, ...others]
  const total = cut ? null : totalOn({ ...page, data }, part.cursor, n)
  return { ...page, data, cut, total }
}

/** Consumers to choose from. `exact`: they have the text as their id or email address, and do not only begin with it. `more`: there are others. */
export type Typed = { found: Consumer[]; exact: boolean; more: boolean }

/** The first consumers to choose from. The one that was named by its ID comes first. */
function choicesIn(named: readonly Consumer[], rows: readonly ListedConsumer[]) {
  const all = [...named, ...rows.filter(isConsumer).filter(({ id }) => id !== named[0]?.id)]
  return { found: all.slice(0, CHOICES), more: all.length > CHOICES }
}

/** The statements that find the consumer with this id and those with this email address. */
function exactly(c: Visit, text: string) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const asked = { email: text.toLowerCase(), unmerged: true }
  return {
    named: findConsumer(db, project, typedRef(text)),
    same: listConsumers(db, project, asked, { before: null, take: CHOICES + 1 }),
  }
}

/** Reads the consumers with this id or this email address. Merged ones are left out, except one that is named by its id. */
export async function findExact(c: Visit, text: string): Promise<Consumer[]> {
  const { named, same } = await batch(c.get('rt').db, exactly(c, text))
  return choicesIn(named, same).found
}

/** As {@link findExact}; if there are none, the consumers whose email address, name or external id begins with the text. */
export async function findTyped(c: Visit, text: string): Promise<Typed> {
  if (text === '') return { found: [], exact: false, more: false }
  const { db } = c.get('rt')
  const asked = { begins: text, unmerged: true }
  const { named, same, alike } = await batch(db, {
    ...exactly(c, text),
    alike: listConsumers(db, projectOf(c.get('actor')), asked, { before: null, take: CHOICES + 1 }),
  })
  const exact = choicesIn(named, same)
  return exact.found.length > 0 ? { ...exact, exact: true } : { ...choicesIn([], alike), exact: false }
}
