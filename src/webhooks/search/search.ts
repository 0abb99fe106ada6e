import type { Db } from '../../db/client'
import { idFloor } from '../../lib/ids'
import type { Filters } from './filters'
import {
  type Candidate,
  connectionsOf,
  countOpen,
  INDEXES,
  isFinal,
  type Plan,
  type Range,
  residualOf,
  scan,
  typesWithPrefix,
} from './store'

/** Candidates a page looks at: two rows read each, so a page reads at most 10,000 rows. */
const MAX_CANDIDATES = 4000
/** Up to this many open events are sorted by id for a page; with more, time is the better way to them. */
const FEW_OPEN = 500
const MAX_TYPES = 500

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
  const plan = await planOf(db, project, filters)
  const { order } = filters
  const range = rangeOf(filters, cursor)
  const ids: string[] = []
  let left = MAX_CANDIDATES
  let each = plan.residual ? want * 4 : want
  while (plan.streams.length > 0) {
    const most = Math.max(1, Math.min(each, Math.floor(left / plan.streams.length)))
    const candidates = await scan(db, plan, range, order, most)
    const edge = edgeOf(candidates, order, most)
    for (const { id, ok } of candidates) if (ok && within(id, edge, order)) ids.push(id)
    if (ids.length >= want || edge === null) break
    left -= candidates.length
    if (left < plan.streams.length) return { ids, truncated: true, resume: edge }
    if (order === 'desc') range.below = edge
    else range.above = edge
    each *= 4
  }
  return { ids: ids.slice(0, want), truncated: false, resume: null }
}

/**
 * How far all streams together have been read: the id that the first of those with more to give has come to. What lies
 * behind it may still have company from that stream. Null where every stream has ended.
 */
function edgeOf(candidates: readonly Candidate[], order: 'asc' | 'desc', each: number): string | null {
  const counts = new Map<number, number>()
  const last = new Map<number, string>()
  for (const { id, stream } of candidates) {
    counts.set(stream, (counts.get(stream) ?? 0) + 1)
    last.set(stream, id) // candidates come in order
  }
  const edges = [...last].filter(([stream]) => (counts.get(stream) ?? 0) >= each).map(([, id]) => id)
  if (edges.length === 0) return null
  return edges.reduce((a, b) => (order === 'desc' ? (a > b ? a : b) : a < b ? a : b))
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
    project,
    streams,
    ...INDEXES[index](project, argument),
    residual: residualOf(filters, connectionIds, new Set(answered)),
  })
  const one = ['']
  if (vendor_event_id !== null)
    return plan('vendorEvent', ids ?? [], ['vendor_event_id', 'connections'], vendor_event_id)
  if (ref !== null) return plan('ref', one, [], ref)
  if (error !== null || min_attempts > 1) return plan('trouble', one, [])
  if (statuses !== null && !statuses.some(isFinal) && (await countOpen(db, project, FEW_OPEN + 1)) <= FEW_OPEN) {
    return plan('open', one, [])
  }
  if (types !== null) return plan('type', await exactTypes(db, project, types), ['types'])
  if (statuses?.every(isFinal)) return plan('final', [...new Set(statuses)], ['statuses'])
  if (connectionIds !== null) return plan('connection', connectionIds, ['connections'])
  return plan('time', one, [])
}

async function exactTypes(db: Db, project: string, types: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    types.map((type) => (type.endsWith('*') ? typesWithPrefix(db, project, type.slice(0, -1), MAX_TYPES) : [type])),
  )
  return [...new Set(found.flat())]
}
