import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { HttpEnv } from '../../../http/context'
import { Fault } from '../../../lib/fault'
import { ERRORS, type FaultName } from '../../../lib/faults'
import { type Mistakes, refusalOf } from '../../refusal'

/** A form of the page that was refused: which one, why, and the status of the page that shows it again. */
export type Refused = {
  /** The user or the invitation that the form is about; null for the form that invites. */
  at: string | null
  mistakes: Mistakes
  status: ContentfulStatusCode
}

/** Refusals that the forms explain. Null: in the words of the API. */
const SAID: Partial<Record<FaultName, string | null>> = {
  already_member: 'This address belongs to a member of the project.',
  already_invited: 'This address has a pending invitation. Resend it, or revoke it first.',
  invitation_limit_reached: null,
  invitation_not_pending: null,
  last_owner: null,
  break_glass_missing: null,
  not_an_owner: null,
  role_escalation: null,
  rate_limited: null,
  not_found: 'This page was out of date: somebody else had removed this member or invitation.',
}

/** Why a form was refused. @throws the error itself if the form cannot explain it */
export function refusedBecause(c: Context<HttpEnv>, at: string | null, error: unknown): Refused {
  if (!(error instanceof Fault) || SAID[error.fault] === undefined) return { at, ...refusalOf(error) }
  for (const [name, value] of Object.entries(error.extra.headers ?? {})) c.header(name, value)
  return { at, mistakes: { form: SAID[error.fault] ?? error.detail }, status: ERRORS[error.fault].status }
}

/** A form about a member whose role is not the one that the page showed. */
export function outOfDate(at: string, role: string): Refused {
  return {
    at,
    mistakes: { form: `This page was out of date: the role is ${role} now. Nothing was changed.` },
    status: 409,
  }
}
