import type { Db } from '../../db/client'
import { idFloor } from '../../lib/ids'
import type { Filters } from './filters'
import {
  connectionsOf,
  countOf,
  countOpen,
  INDEXES,
  isFinal,
  type Plan,
  type Range,
  residualOf,
  type Stretch,
  scan,
  typesWithPrefix,
} from './store'

/** Candidates a page looks at: at most two rows read each, so that a page reads at most 10,000 rows. */
const MAX_CANDIDATES = 4000
/** Up to this many open events are sorted by id for a page; with more, time is the better way to them. */
const FEW_OPEN = 2000
/** Up to this many events of the connections asked for, all of them are looked at, once another way found too little. */
const FEW_OF_CONNECTIONS = 1000
/** Up to this many types have a stream each; with more, types are checked on what another index gives. */
const MAX_TYPES = 300

/** Ids of matching events in order. `truncated`: the bound was met first; `resume` is where to go on. */
export type Found = { ids: string[]; truncated: boolean; resume: string | null }

/**
 * Finds up to `want` matching events after `cursor`.
 *
 * @param cursor the id to go on after, or null
 */
export async function search(
  db: Db,
  project: string,
  filters: Filters,
  cursor: string | null,
  want: number,
): Promise<Found> {
  let plan = await planOf(db, project, filters)
  const { order } = filters
  const range = rangeOf(filters, cursor)
  const ids: string[] = []
  let left = MAX_CANDIDATES
  let each = plan.few ? MAX_CANDIDATES : plan.residual ? want * 4 : want
  while (plan.streams.length > 0) {
    const most = Math.max(1, Math.min(each, Math.floor(left / plan.streams.length)))
    const stretches = await scan(db, plan, range, order, most)
    const edge = edgeOf(stretches, order, most)
    const found = stretches.flatMap((stretch) => stretch.ids.filter((id) => within(id, edge, order))).sort()
    ids.push(...(order === 'desc' ? found.reverse() : found))
    if (ids.length >= want || edge === null) break
    left -= stretches.reduce((sum, { n }) => sum + n, 0)
    if (left < plan.streams.length) return { ids, truncated: true, resume: edge }
    if (order === 'desc') range.below = edge
    else range.above = edge
    each *= 4
    // A quiet connection among a million events would take many pages that have next to nothing.
    const { instead } = plan
    plan = { ...plan, instead: null }
    if (instead && (await countOf(db, instead.connections, FEW_OF_CONNECTIONS + 1)) <= FEW_OF_CONNECTIONS) {
      plan = instead.plan
      each = FEW_OF_CONNECTIONS
    }
  }
  return { ids: ids.slice(0, want), truncated: false, resume: null }
}

/**
 * How far all streams together have been read: the id that the first of those with more to give has come to. What lies
 * behind it may still have company from that stream. Null where every stream has ended.
 */
function edgeOf(stretches: readonly Stretch[], order: 'asc' | 'desc', each: number): string | null {
  const edges = stretches.flatMap(({ n, last }) => (n >= each && last !== null ? [last] : [])).sort()
  return (order === 'desc' ? edges.at(-1) : edges[0]) ?? null
}

function within(id: string, edge: string | null, order: 'asc' | 'desc'): boolean {
  return edge === null || (order === 'desc' ? id >= edge : id <= edge)
}

/** The ids of the time range, from the cursor on. Receipt times are in the ids. */
function rangeOf(filters: Filters, cursor: string | null): Range {
  // An id of the first millisecond is above its floor; the floor itself is nobody's.
  const above = filters.after === null ? '' : idFloor('evt', filters.after)
  const below = filters.before === null ? '~' : idFloor('evt', filters.before)
  if (cursor === null) return { above, below }
  return filters.order === 'desc'
    ? { above, below: cursor < below ? cursor : below }
    : { above: cursor > above ? cursor : above, below }
}

/** Picks the index that narrows most. */
async function planOf(db: Db, project: string, filters: Filters): Promise<Plan> {
  const { types, statuses, vendor, connection_id, vendor_event_id, ref, min_attempts, error, livemode } = filters
  const byConnection = vendor !== null || connection_id !== null || livemode !== null
  const ids = byConnection || vendor_event_id !== null ? await connectionsOf(db, project, filters) : null
  const connectionIds = byConnection ? ids : null
  const plan = (index: keyof typeof INDEXES, streams: readonly string[], answered: string[], argument = ''): Plan => ({
    streams: ids?.length === 0 ? [] : streams, // of no connection there is no event
    ...INDEXES[index](project, argument),
    residual: residualOf(filters, connectionIds, new Set(answered)),
    few: index === 'open',
    instead: null,
  })
  const orConnections = (way: Plan): Plan =>
    connectionIds === null
      ? way
      : { ...way, instead: { connections: connectionIds, plan: plan('connection', connectionIds, ['connections']) } }
  const one = ['']
  if (vendor_event_id !== null)
    return plan('vendorEvent', ids ?? [], ['vendor_event_id', 'connections'], vendor_event_id)
  if (ref !== null) return orConnections(plan('ref', one, ['ref'], ref))
  if (error !== null || min_attempts > 1) return orConnections(plan('trouble', one, []))
  if (statuses !== null && !statuses.some(isFinal) && (await countOpen(db, project, FEW_OPEN + 1)) <= FEW_OPEN) {
    return plan('open', one, [])
  }
  const exact = types === null ? null : await exactTypes(db, project, types)
  if (exact !== null) return orConnections(plan('type', exact, ['types']))
  if (statuses?.every(isFinal)) return orConnections(plan('final', [...new Set(statuses)], ['statuses']))
  if (connectionIds !== null) return plan('connection', connectionIds, ['connections'])
  return plan('time', one, [])
}

/** The types that are meant, prefixes spelt out; null where they are too many for a stream each. */
async function exactTypes(db: Db, project: string, types: readonly string[]): Promise<string[] | null> {
  const prefixes = types.filter((type) => type.endsWith('*')).map((type) => type.slice(0, -1))
  const most = Math.floor(MAX_TYPES / Math.max(1, prefixes.length))
  const found = await typesWithPrefix(db, project, prefixes, most)
  if (found.some((list) => list.length === most)) return null // there may be more of them
  return [...new Set([...types.filter((type) => !type.endsWith('*')), ...found.flat()])]
}
