import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type * as z from 'zod'
import { invalid } from '../http/validate'
import { Fault } from '../lib/fault'
import { ERRORS, type FaultName } from '../lib/faults'
import { sentence } from './ui/format'

/** The errors in a form by field name. Errors that belong to no field are under `form`. */
export type Mistakes = Record<string, string>

/** Why a form was refused, and the status of the page that shows it again. */
export type Refusal = { mistakes: Mistakes; status: ContentfulStatusCode }

/** A form as a page shows it: what it was filled in with, and why it was refused. */
export type Sent = Refusal & {
  /** Not there for a form that has not been submitted. */
  entered?: URLSearchParams | undefined
}

/** A form that has not been submitted. */
export const UNSENT: Sent = { mistakes: {}, status: 200 }

/** What only a page refuses, such as a text that was typed to be sure. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor(
    readonly mistakes: Mistakes,
    readonly status: 409 | 422 = 422,
  ) {
    super('A page has refused its form.')
  }
}

/** Refusals other than conflicts that a form explains, in these words or, if `true`, in those of the API. */
export type Explained = Partial<Record<FaultName, string | true>>

/** Conflicts whose usual words name calls or ids. */
const WORDS: Explained = {
  already_member: 'This address belongs to a member of the project.',
  already_invited: 'This address has a pending invitation. Resend it, or revoke it first.',
  connection_untested: 'The connection has not passed a test since its client settings last changed. Test it first.',
  sso_session_required: 'Sign in with this connection first. Otherwise you could lock yourself out.',
}

/** What the forms about one thing say. It goes before {@link WORDS}. */
export const EXPLAINED = {
  consumer: {
    precondition_failed:
      'The consumer has changed since you opened this form, and nothing was saved. Save again to keep what you see here.',
  },
  plan: {
    precondition_failed:
      'The plan has changed since you opened this form, and nothing was saved. Saving would replace those changes: review it again.',
  },
  sso: { break_glass_missing: 'No owner has break-glass access. Give it to an owner on the “Members” page first.' },
  team: {
    role_escalation: true,
    rate_limited: true,
    not_found: 'This page was out of date: someone else had already removed this member or invitation.',
  },
  // The page itself says what happened to the invitation.
  invitation: {
    invitation_not_pending: 'Nothing was changed.',
    invitation_expired: 'Nothing was changed.',
    not_found: true,
  },
} as const satisfies Record<string, Explained>

/** The fields that conflicts are about. */
const FIELDS: Partial<Record<FaultName, string>> = {
  domain_exists: 'hostname',
  external_id_taken: 'external_id',
  plan_is_default: 'state',
  plan_key_taken: 'key',
  price_mapped: 'prices',
}

/** Validates a form's fields with the API's own schema. @throws {Fault} `validation_failed` */
export function parse<T extends z.ZodType>(schema: T, fields: unknown): z.infer<T> {
  const result = schema.safeParse(fields)
  if (!result.success) throw invalid(result.error.issues)
  return result.data
}

/**
 * Converts an error to messages for the form: a mistake goes to its field, and every conflict to the form. A mistake inside
 * a field is under the field's name and under `{field}.{name}`.
 *
 * @param explains what the form explains besides
 * @throws the error itself if the form cannot explain it
 */
export function refusalOf(error: unknown, explains: Explained = {}): Refusal {
  if (error instanceof Refused) return { mistakes: error.mistakes, status: error.status }
  if (!(error instanceof Fault)) throw error
  const { fault, detail, extra } = error
  if (fault === 'validation_failed') {
    const mistakes = (extra.errors ?? []).flatMap(({ pointer, message }) => {
      const [, field, inner] = pointer.split('/')
      const said = sentence(message)
      return inner === undefined
        ? [[field || 'form', said]]
        : [
            [`${field}.${inner}`, said],
            [field, said],
          ]
    })
    return { mistakes: Object.fromEntries(mistakes.reverse()), status: 422 }
  }
  const { status } = ERRORS[fault]
  const said = explains[fault] ?? WORDS[fault]
  if (status !== 409 && !(fault in explains)) throw error
  return {
    mistakes: { [FIELDS[fault] ?? 'form']: typeof said === 'string' ? said : detail },
    // What a form has seen is a precondition of a call. To who filled it in, it is a conflict.
    status: fault === 'precondition_failed' ? 409 : status,
  }
}
