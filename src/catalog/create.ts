import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import { makeSigningKey } from '../token-keys/make-key'
import { insertPlan, type PlanFields } from './change-store'
import type { Plan } from './plans-store'

/**
 * Creates a plan. With the first one, the project gets the key that signs its entitlement tokens, so that the key is published
 * before there is a token.
 *
 * @throws {Fault} as {@link insertPlan}; `encryption_key_unavailable`
 */
export async function createPlan(rt: Runtime, projectId: string, fields: PlanFields, change: Change): Promise<Plan> {
  return insertPlan(rt.db, projectId, fields, change, await makeSigningKey(rt, projectId))
}
