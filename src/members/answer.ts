import { Fault, notFound } from '../lib/fault'
import { notPending } from './faults'
import { type Invitation, stateOf } from './invitations-store'

/**
 * The invitation, if it was open before the answer, or already had the same answer.
 *
 * @throws {Fault} `not_found`, `invitation_not_pending`, `invitation_expired`
 */
export function requireAnswered<T extends Pick<Invitation, 'state' | 'expires_at'>>(
  invitation: T | undefined,
  now: number,
  answer: 'accepted' | 'declined',
): T {
  if (!invitation) throw notFound('Invitation', 'for your address')
  const state = stateOf(invitation, now)
  if (state === 'pending' || state === answer) return invitation
  if (state === 'expired') throw new Fault('invitation_expired', 'The invitation has expired. Ask for a new one.')
  throw notPending(state)
}
