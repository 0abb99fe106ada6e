import { Fault } from '../../../lib/fault'
import type { FaultName } from '../../../lib/faults'
import { type Refusal, refusalOf } from '../../refusal'
import { sentence } from '../../ui/format'

/** Refusals that the forms explain, each at the field it is about. */
const FIELDS: Partial<Record<FaultName, string>> = {
  plan_key_taken: 'key',
  price_mapped: 'prices',
  precondition_failed: 'form',
}
const SAID: Partial<Record<FaultName, string>> = {
  precondition_failed:
    'The plan has changed since you opened this form, and nothing was saved. What you see here would replace the plan as it is now: review it again.',
}

/** Why a form was refused, by its field: `features.{key}`, `prices`, or that of the plan. @throws the error itself if the user cannot fix it */
export function refusedBecause(error: unknown): Refusal {
  if (!(error instanceof Fault)) throw error
  if (error.fault === 'validation_failed') {
    const mistakes = (error.extra.errors ?? []).map(({ pointer, message }) => [fieldOf(pointer), sentence(message)])
    return { mistakes: Object.fromEntries(mistakes.reverse()), status: 422 }
  }
  const field = FIELDS[error.fault]
  if (field === undefined) return refusalOf(error)
  return { mistakes: { [field]: SAID[error.fault] ?? error.detail }, status: 409 }
}

function fieldOf(pointer: string): string {
  const [, field = 'form', key] = pointer.split('/')
  return field === 'features' && key !== undefined ? `features.${key}` : field || 'form'
}
