import { findErasedAmong } from '../../consumers/links'
import { type Db, run } from '../../db/client'
import type { SourceKey } from './keys'
import type { FetchedRecord } from './record'

/** The customer whom a fetched object is about; null if there is none. */
export function customerOf({ api }: Pick<SourceKey, 'api'>, { kind, object }: Pick<FetchedRecord, 'kind' | 'object'>) {
  return kind === 'customer' ? String(object.id) : api.calls.customerIn(object)
}

/** The ids of records that are about customers whose consumers were erased: they are not to be recorded. Without customers, no statement is sent. */
export async function idsOfErased(db: Db, key: SourceKey, records: readonly FetchedRecord[]): Promise<Set<string>> {
  const all = records.map((record) => ({ id: record.id, customer: customerOf(key, record) }))
  const customers = [...new Set(all.flatMap(({ customer }) => customer ?? []))]
  if (customers.length === 0) return new Set()
  const rows = await run(db, findErasedAmong(db, key.project_id, key.vendor, customers))
  const erased = new Set(rows.map(({ id }) => id))
  return new Set(all.filter(({ customer }) => customer !== null && erased.has(customer)).map(({ id }) => id))
}
