import { type SearchFields, SearchQuery } from '../../../inbox/search/filters'
import { DAY, HOUR, iso } from '../../../lib/time'
import { addFilled } from '../../list'
import { type Mistakes, parse, refusalOf } from '../../refusal'
import type { Span, TimeFilter } from '../../ui/filters'

const LISTS = ['event_type', 'status', 'id'] as const
/** The filters that have their own place on the page. The others are under “More filters”. */
const FIRST = ['connection_id'] as const
export const MORE = [
  'ref',
  'error',
  'error_code',
  'vendor',
  'vendor_event_id',
  'replay_id',
  'received_after',
  'received_before',
  'min_attempts',
  'livemode',
  'source',
  'order',
] as const

/** Time spans to choose from. */
export const SPANS: readonly Span[] = [
  ['1h', 'Last hour', HOUR],
  ['24h', 'Last 24 hours', DAY],
  ['7d', 'Last 7 days', 7 * DAY],
]
/** When an event was received, as a filter. */
export const RECEIVED: TimeFilter = { within: 'within', bounds: ['received_after', 'received_before'], spans: SPANS }

/** A search from the address. `fields` is null if the search is invalid. */
export type AskedEvents = {
  /** The filters as the API takes them. A time span becomes a time, so that all pages of a list begin at the same time. */
  query: URLSearchParams
  /** The filters as the address has them. `livemode` may be `all`: see `withMode`. */
  address: URLSearchParams
  fields: SearchFields | null
  mistakes: Mistakes
}

/**
 * Reads the search from an address. It drops empty fields and treats times without a zone as UTC.
 *
 * @param now milliseconds, at which a time span ends
 */
export function readSearch(sent: URLSearchParams, now: number): AskedEvents {
  const address = new URLSearchParams()
  for (const name of LISTS) {
    const texts = sent.getAll(name).flatMap((text) => text.split(/[\s,]+/))
    for (const one of new Set(texts)) if (one !== '') address.append(name, one)
  }
  addFilled(address, sent, [...FIRST, ...MORE])
  const query = new URLSearchParams(address)
  if (query.get('livemode') === 'all') query.delete('livemode')
  const [name, , span = 0] = SPANS.find(([name]) => name === sent.get('within')) ?? []
  if (name !== undefined && !address.has('received_after')) {
    address.set('within', name)
    query.set('received_after', `${iso(now - span).slice(0, 19)}Z`)
  }
  const raw: Record<string, unknown> = Object.fromEntries(query)
  for (const name of LISTS) if (query.has(name)) raw[name] = query.getAll(name)
  try {
    return { query, address, fields: parse(SearchQuery, raw), mistakes: {} }
  } catch (error) {
    return { query, address, fields: null, mistakes: refusalOf(error).mistakes }
  }
}
