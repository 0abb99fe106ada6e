import { MAX_COUNTED } from '../../../health/limits'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { idTime } from '../../../lib/ids'
import { pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'

/** The path of a connection's page. */
export function connectionPath(c: Visit, { id }: { id: string }): string {
  return `${pathsOf(c).connections}/${id}`
}

/** When the connection last received an event; null for never. */
export const lastOf = (row: Pick<ConnectionRow, 'last_event_id'>) =>
  row.last_event_id === null ? null : idTime(row.last_event_id)

/**
 * The state of a connection as one word for its badge. A connection that has received nothing yet is `waiting`, or
 * `not set up` while it has no signing secret.
 */
export function standingOf({ status, secrets, last_event_id }: Pick<ConnectionRow, StandingField>): string {
  return standingFrom({ status, signing_secrets: secrets.length, last: last_event_id })
}

type StandingField = 'status' | 'secrets' | 'last_event_id'

/** As {@link standingOf}, for what health says about a connection. @param last null if it has received nothing */
export function standingFrom(of: { status: string; signing_secrets: number; last: string | null }): string {
  if (of.status === 'disabled') return 'disabled'
  if (of.signing_secrets === 0) return of.last === null ? 'not set up' : 'no secret'
  return of.last === null && of.status !== 'paused' ? 'waiting' : of.status
}

/** A name for a secret. The hint is empty for a short secret. */
export function secretName(hint: string): string {
  return hint === '' ? 'secret' : `secret ending in ${hint}`
}

/**
 * How many events a connection holds, as the beginning of a sentence.
 *
 * @param counted how many held events were counted in all. From {@link MAX_COUNTED} on, there may be more.
 */
export function heldWords(n: number, counted: number): string {
  return `${counted >= MAX_COUNTED ? 'At least ' : ''}${plural(n, 'event')} ${n === 1 ? 'is' : 'are'} held`
}
