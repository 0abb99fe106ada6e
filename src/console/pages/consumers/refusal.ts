import { Fault } from '../../../lib/fault'
import type { FaultName } from '../../../lib/faults'
import { type Refusal, refusalOf } from '../../refusal'

/** Refusals that the forms explain, each at the field it is about. */
const FIELDS: Partial<Record<FaultName, string>> = {
  external_id_taken: 'external_id',
  precondition_failed: 'form',
  consumer_merged: 'form',
  consumer_erased: 'form',
}
const SAID: Partial<Record<FaultName, string>> = {
  precondition_failed:
    'The consumer has changed since you opened this form, and nothing was saved. Save again to keep what you see here.',
}

/** Why a form was refused. @throws the error itself if the user cannot fix it */
export function refusedBecause(error: unknown): Refusal {
  const field = error instanceof Fault ? FIELDS[error.fault] : undefined
  if (!(error instanceof Fault) || field === undefined) return refusalOf(error)
  return { mistakes: { [field]: SAID[error.fault] ?? error.detail }, status: 409 }
}
