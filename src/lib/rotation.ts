import { DAY, SECOND } from './time'

/* What the rotations of an API key's secret and of a device's token have in common. */

/** How long a new secret waits for its first use (ms). */
export const NEW_SECRET_WAITS = 7 * DAY
/** The longest time for which a replaced secret works on (s). */
export const MAX_GRACE_S = DAY / SECOND

/** What the audit log keeps of a rotation. Defaults (`now`, no grace) are left out. */
export function rotationSaid({ when, grace_s }: { when?: 'now' | 'first_use'; grace_s: number }) {
  return { ...(when === 'first_use' && { when }), ...(grace_s > 0 && { grace_s }) }
}

/** A secret that waits for its first use; null if there is none, or if it was not used in time. */
export function stillPending<P extends { expires_at: number }>(pending: P | null, now: number): P | null {
  return pending !== null && pending.expires_at > now ? pending : null
}

/** A secret that was replaced; null if there is none, or if it no longer works. */
export function inGrace<P extends { valid_until: number }>(previous: P | null, now: number): P | null {
  return previous !== null && previous.valid_until > now ? previous : null
}
