import type { Change } from '../audit/store'
import { newSigningKey } from '../entitlements/signing'
import type { Runtime } from '../env'
import { insertPlan, type PlanFields } from './change-store'
import type { Plan } from './plans-store'

/**
 * Creates a plan. With the first one, the project gets the key that signs its entitlement tokens, so that the key is published
 * before there is a token.
 *
 * @throws {Fault} as {@link insertPlan}
 */
export async function createPlan(
  { db, settings }: Runtime,
  projectId: string,
  fields: PlanFields,
  change: Change,
): Promise<Plan> {
  return insertPlan(db, projectId, fields, change, await newSigningKey(settings.encryptionKeys, projectId))
}
