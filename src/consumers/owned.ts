import { type Column, sql } from 'drizzle-orm'
import { type Owned, presentObject, type ShownObjects } from '../billing/read/present'
import type { CustomerSet, ObjectRow, ReadBeside } from '../billing/read/store'
import type { ObjectKind } from '../lib/billing-kinds'
import { consumerOf, someOfConsumer } from './links'
import { consumerIdOf } from './read'
import type { ConsumerRef } from './ref'

/** What is read beside a billing object for {@link presentOwned}: up to two rows. */
export function ownerBeside(projectId: string): ReadBeside {
  return (of) => sql`json_quote(${consumerOfObject(projectId, of)})`
}

/** A billing object that was read with {@link ownerBeside}, as the API shows it. */
export function presentOwned<K extends ObjectKind>(kind: K, row: ObjectRow): ShownObjects[K] & Owned {
  return { ...presentObject(kind, row), consumer_id: row.beside as string | null }
}

/** The customers of a consumer, for lists of billing objects. @param id only those with this id */
export function customerSetOf(projectId: string, ref: ConsumerRef, id?: string): CustomerSet {
  return {
    first: (most) => someOfConsumer(projectId, ref, most, id),
    has: (of) => sql`${consumerOfObject(projectId, of)} = ${consumerIdOf(projectId, ref)}`,
  }
}

function consumerOfObject(projectId: string, { vendor, customer }: Record<'vendor' | 'customer', Column>) {
  return consumerOf(sql`${projectId}`, { vendor: sql`${vendor}`, customer: sql`${customer}` })
}
