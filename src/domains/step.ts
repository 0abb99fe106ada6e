import { HOUR } from '../lib/time'
import type { Domain } from './domain'
import {
  ABSENT_CHECKS,
  ABSENT_FOR,
  FIRST_CHECKS,
  GRACE_EVERY,
  GRACE_FOR,
  HOURLY_FOR,
  LATER_EVERY,
  PENDING_FOR,
  SERVING_EVERY,
  VERIFIED_EVERY,
} from './limits'
import type { RecordStatus } from './schema'

/** The part of a domain that a check moves. */
export type DomainStanding = Pick<
  Domain,
  'state' | 'state_since' | 'absent' | 'absent_since' | 'verified_at' | 'next_check_at' | 'grace_until'
>

/** A domain before a check. `looking`: whether it is a surface that is to serve and does not yet. */
export type Before = DomainStanding & { looking: boolean }

/**
 * What a check makes of a domain. No answer (`unreachable`) never counts against anybody: only time ends what is pending.
 *
 * @param now ms
 */
export function afterCheck(before: Before, status: RecordStatus, now: number): DomainStanding {
  const { looking, ...standing } = before
  if (status === 'found') return proven(before, now)
  const isAbsent = status !== 'unreachable'
  if (standing.state === 'pending') {
    if (now - standing.state_since >= PENDING_FOR) return failed(standing, now)
    return { ...standing, next_check_at: nextWhilePending(standing.state_since, now) }
  }
  const later = now + (looking ? SERVING_EVERY : VERIFIED_EVERY)
  if (standing.state === 'verified') {
    if (!isAbsent) return { ...standing, next_check_at: later }
    const absent = standing.absent + 1
    const absent_since = standing.absent_since ?? now
    if (absent < ABSENT_CHECKS || now - absent_since < ABSENT_FOR) {
      return { ...standing, absent, absent_since, next_check_at: later }
    }
    const grace_until = now + GRACE_FOR
    const next_check_at = now + GRACE_EVERY
    return { ...standing, state: 'grace', state_since: now, absent, absent_since, grace_until, next_check_at }
  }
  const { grace_until } = standing
  if (isAbsent && grace_until !== null && now >= grace_until) return failed(standing, now)
  const ends = grace_until !== null && grace_until > now ? grace_until : Number.POSITIVE_INFINITY
  return { ...standing, next_check_at: Math.min(now + GRACE_EVERY, ends) }
}

function proven({ looking, ...standing }: Before, now: number): DomainStanding {
  const held = standing.state === 'verified'
  return {
    state: 'verified',
    state_since: held ? standing.state_since : now,
    absent: 0,
    absent_since: null,
    verified_at: standing.state === 'pending' ? now : standing.verified_at,
    next_check_at: now + (looking ? SERVING_EVERY : VERIFIED_EVERY),
    grace_until: null,
  }
}

/** A domain that has failed: nothing is checked any more. */
export function failed(standing: DomainStanding, now: number): DomainStanding {
  return {
    ...standing,
    state: 'failed',
    state_since: now,
    absent: 0,
    absent_since: null,
    next_check_at: null,
    grace_until: null,
  }
}

/** The standing of a domain that is added, or tried again. */
export function begun(now: number) {
  return {
    state: 'pending' as const,
    state_since: now,
    absent: 0,
    absent_since: null,
    verified_at: null,
    next_check_at: nextWhilePending(now, now),
    grace_until: null,
  }
}

/** When a domain that has been pending since then is checked next (ms). */
function nextWhilePending(since: number, now: number): number {
  const age = now - since
  const first = FIRST_CHECKS.find((after) => after > age)
  if (first !== undefined) return since + first
  const every = age < HOURLY_FOR ? HOUR : LATER_EVERY
  return Math.min(now + every, since + PENDING_FOR)
}
