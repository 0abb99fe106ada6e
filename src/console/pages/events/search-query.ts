import { type SearchFields, SearchQuery } from '../../../inbox/search/filters'
import { addFilled, type Mistakes, parse, refusalOf } from '../../form'

const LISTS = ['event_type', 'status'] as const
export const TEXTS = [
  'ref',
  'vendor',
  'connection_id',
  'vendor_event_id',
  'received_after',
  'received_before',
  'min_attempts',
  'error',
  'livemode',
  'order',
] as const

/** A search from the address. `fields` is null if the search is invalid. */
export type Asked = { query: URLSearchParams; fields: SearchFields | null; mistakes: Mistakes }

/** Reads the search from an address. It drops empty fields and treats times without a zone as UTC. */
export function readSearch(sent: URLSearchParams): Asked {
  const query = new URLSearchParams()
  for (const name of LISTS) {
    for (const one of sent.getAll(name).flatMap((text) => text.split(/[\s,]+/))) if (one !== '') query.append(name, one)
  }
  addFilled(query, sent, TEXTS)
  const raw: Record<string, unknown> = Object.fromEntries(query)
  for (const name of LISTS) if (query.has(name)) raw[name] = query.getAll(name)
  try {
    return { query, fields: parse(SearchQuery, raw), mistakes: {} }
  } catch (error) {
    return { query, fields: null, mistakes: refusalOf(error).mistakes }
  }
}
