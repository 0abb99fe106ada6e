import { UNLIMITED } from '../catalog/values'
import type { ConsumerRef } from '../consumers/ref'
import { batch, type Db } from '../db/client'
import { factsIn, unlessTooMuch } from '../entitlements/holders'
import { factsOf } from '../entitlements/read'
import { resolve } from '../entitlements/resolve'
import { MAX_DEVICES } from '../tenancy/limits'

/** How many active devices a consumer can have. `feature`: the one that says so; null: `max_devices` does, see `limitOf`. */
export type Cap = { limit: number; feature: string | null }

/**
 * How many active devices a consumer can have where a feature says so: what its plans and grants include of the feature now, at
 * most {@link MAX_DEVICES}. Of a consumer that has too many subscriptions or grants to look at, that is not known: `max_devices`
 * applies instead.
 */
export async function capOf(
  db: Db,
  projectId: string,
  ref: ConsumerRef,
  { feature, limit }: Cap & { feature: string },
): Promise<Cap> {
  const found = await batch(db, factsOf(db, projectId, [ref], { keys: [feature] }))
  const facts = unlessTooMuch(() => factsIn(found, 1))
  if (facts === null) return { limit, feature: null }
  const { now, catalog, holders } = facts
  const [holder = { state: null, subscriptions: [], purchases: [], grants: [] }] = holders
  const { value } = resolve(feature, holder, catalog, now)
  return { limit: value === UNLIMITED ? MAX_DEVICES : Math.min(Number(value), MAX_DEVICES), feature }
}

/** What was read of a consumer's devices, with the limit that counts. It asks the database only where a feature says how many. */
export async function withCap(
  db: Db,
  projectId: string,
  ref: ConsumerRef,
  { active, limit, feature }: Cap & { active: number },
): Promise<{ active: number; limit: number }> {
  if (feature === null) return { active, limit }
  return { active, limit: (await capOf(db, projectId, ref, { feature, limit })).limit }
}
