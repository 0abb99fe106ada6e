import { AuditFilters } from '../../../audit-log/filters'
import { addFilled } from '../../list'
import { type Mistakes, parse, refusalOf } from '../../refusal'

const NAMES = ['actor_id', 'action', 'object_type', 'object_id', 'created_after', 'created_before'] as const

/** The filters in the address. `filters` is null if they are invalid. */
export type Asked = { query: URLSearchParams; filters: AuditFilters | null; mistakes: Mistakes }

/** Reads the filters from an address. It drops empty fields and treats times without a zone as UTC. */
export function readFilters(sent: URLSearchParams): Asked {
  const query = new URLSearchParams()
  addFilled(query, sent, NAMES)
  try {
    return { query, filters: parse(AuditFilters, Object.fromEntries(query)), mistakes: {} }
  } catch (error) {
    return { query, filters: null, mistakes: refusalOf(error).mistakes }
  }
}
