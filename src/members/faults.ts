import { overLimit } from '../http/rate-limit'
import { Fault } from '../lib/fault'
import { HOUR, SECOND } from '../lib/time'
import { MAIL_EVERY, MAILS_FROM_PROJECT, MAILS_TO_ADDRESS, MAILS_WITHIN, MAX_PENDING } from './limits'
import type { Counted } from './mail-limits-store'

/** How long a caller who has reached a daily limit must wait (seconds). The exact time would tell about other projects. */
const NEXT_TRY_S = HOUR / SECOND

/** @throws {Fault} `rate_limited` if the address or the project has reached its daily limit of emails */
export function requireMails({ to_address, from_project }: Counted): void {
  if (to_address >= MAILS_TO_ADDRESS) {
    throw tooManyMails(
      'invitation_address',
      MAILS_TO_ADDRESS,
      'The daily limit of invitation emails to this address has been reached.',
    )
  }
  if (from_project >= MAILS_FROM_PROJECT) {
    throw tooManyMails(
      'invitation_project',
      MAILS_FROM_PROJECT,
      'The daily limit of invitation emails from this project has been reached.',
    )
  }
}

function tooManyMails(name: string, requests: number, detail: string): Fault {
  return overLimit({ name, requests, window: MAILS_WITHIN / SECOND }, `${detail} Try again later.`, NEXT_TRY_S)
}

/** For an email that follows another one of the same invitation too soon. */
export function mailTooSoon(): Fault {
  const seconds = MAIL_EVERY / SECOND
  const detail = 'The last email for this invitation was sent less than a minute ago. Wait and try again.'
  return overLimit({ name: 'invitation', requests: 1, window: seconds }, detail, seconds)
}

/** @throws {Fault} `invitation_limit_reached` */
export function requireRoom({ pending }: Counted): void {
  if (pending < MAX_PENDING) return
  throw new Fault(
    'invitation_limit_reached',
    `A project can have ${MAX_PENDING} pending invitations. Revoke one first.`,
  )
}

/** For an invitation to become an owner, in a session that a provider vouches for. */
export function ownSignInRequired(): Fault {
  return new Fault(
    'sso_session_limited',
    'Sign in with a code or a passkey to become an owner. Single sign-on opened this session. Otherwise, whoever manages the provider could make owners.',
  )
}

/** @param state why it is not pending */
export function notPending(state: string): Fault {
  return new Fault('invitation_not_pending', `The invitation is ${state}. This works only with a pending invitation.`)
}
