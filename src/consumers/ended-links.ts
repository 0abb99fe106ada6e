import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { nameAtVendor } from '../billing/customers/names'
import { type Db, raw } from '../db/client'
import { customerMoves } from './customers/schema'
import { consumerIdOf } from './read'
import type { ConsumerRef } from './ref'
import { consumerIds } from './schema'

const m = alias(customerMoves, 'm')
const i = alias(consumerIds, 'i')

/**
 * A link of a customer that an external id of a consumer made, and that ended at `moved_at` (ms), by an event or a pin. `name`: what the vendor
 * calls the customer, if that is known.
 */
export type EndedLink = ReturnType<typeof lastEnded>['_']['result'][number]

/** Reads the links of customers to a consumer that ended last, at most `most` of them. */
export function lastEnded(db: Db, projectId: string, ref: ConsumerRef, most: number) {
  const shown = {
    vendor: sql<string>`k.value->>0`.as('vendor'),
    id: sql<string>`k.value->>1`.as('id'),
    moved_at: sql<number>`k.value->>2`.as('moved_at'),
    name: sql<string | null>`${nameAtVendor(projectId, { vendor: sql`k.value->>0`, customer: sql`k.value->>1` })}`.as(
      'name',
    ),
  }
  const last = sql`SELECT ${m.vendor}, ${m.customer}, ${m.moved_at} FROM ${customerMoves} ${m} NOT INDEXED
    WHERE ${m.project_id} = ${projectId} AND ${m.ref} = ${i.external_id} ORDER BY ${m.moved_at} DESC LIMIT ${most}`
  return raw(
    db,
    shown,
    // A list for each id, because SQLite takes no table that depends on another one of the same FROM.
    (fields) => sql`SELECT ${fields} FROM ${consumerIds} ${i} INDEXED BY consumer_ids_consumer
      CROSS JOIN json_each((SELECT json_group_array(json_array(vendor, customer, moved_at)) FROM (${last}))) k
      WHERE ${i.project_id} = ${projectId} AND ${i.consumer_id} = ${consumerIdOf(projectId, ref)}
      ORDER BY k.value->>2 DESC LIMIT ${most}`,
  )
}
