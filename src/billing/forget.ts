import { FORGOTTEN } from '../vendors/objects'
import type { Effect } from './effect'
import type { Candidate } from './reduce'

/*
 * What is kept of an object and of an effect once the customer's consumer was erased: amounts, dates, statuses and vendors' ids.
 */

/** A state of an object without what is about a person. */
export function forgottenState(candidate: Candidate): Candidate {
  const { money } = candidate
  const kept = money ? { ...candidate, money: impersonal(money) as typeof money } : candidate
  if (kept.body === null) return kept
  const { erased: _, ...body } = kept.body
  return { ...kept, body: { ...(impersonal(body) as typeof body), erased: true } }
}

/** Whether an object has been forgotten. It stays so, also for events that name no customer. */
export function isForgotten(candidates: readonly Candidate[]): boolean {
  return candidates.some(({ body }) => body?.erased === true)
}

/** An effect without values that are about a person. */
export function forgottenEffect(effect: Effect): Effect {
  if (effect.change === null) return effect
  const change = Object.entries(effect.change).map(([field, { from, to, ...marks }]) =>
    FORGOTTEN.has(field)
      ? [field, { from: null, to: null, personal: true as const }]
      : [field, { from: impersonal(from), to: impersonal(to), ...marks }],
  )
  return { ...effect, change: Object.fromEntries(change) }
}

/** A value without the fields, at any depth, that are about a person. */
function impersonal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(impersonal)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([name]) => !FORGOTTEN.has(name))
  return Object.fromEntries(kept.map(([name, part]) => [name, impersonal(part)]))
}
