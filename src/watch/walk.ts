import type { Walk, WalkCause } from '../followers/schema'
import { MAX_WALK_CAUSES } from './limits'

/*
 * A walk over consumers, round and round. Changes that concern everybody share it: each is done once the walk has come round to where it
 * began for it.
 */

/** Whether a walk for a change has met a consumer already. */
function hasMet({ at }: Walk, { from, round }: WalkCause, id: string): boolean {
  return round ? id > from || id <= at : id > from && id <= at
}

/** The changes of a walk for which it has not met a consumer yet. What becomes different for the consumer may come from these. */
export function unmet(walk: Walk, id: string): WalkCause[] {
  return walk.causes.filter((cause) => !hasMet(walk, cause, id))
}

/** Whether the walk goes over all consumers, and not only over those with a state. */
export function goesOverAll({ causes }: Walk): boolean {
  return causes.some(({ all }) => all)
}

/** A walk that also is for these changes, from where it is. */
export function joined(walk: Walk, causes: readonly Omit<WalkCause, 'from' | 'round'>[]): Walk {
  const more = causes.map((cause) => ({ ...cause, from: walk.at, round: false }))
  const all = [...walk.causes, ...more]
  // Whoever has not been met for an earlier one has not been met for the last one either.
  const few = all.filter(({ all: over }, i) => over || i >= all.length - MAX_WALK_CAUSES)
  return { at: walk.at, causes: few }
}

/**
 * A walk that has met some more consumers.
 *
 * @param met the next ones, in order
 * @param isEnd whether there are none after them
 */
export function moved(walk: Walk, met: readonly string[], isEnd: boolean): Walk {
  const at = met.at(-1) ?? walk.at
  if (!isEnd) return { at, causes: walk.causes.filter(({ from, round }) => !(round && from <= at)) }
  const causes = walk.causes.filter(({ from, round }) => !round && from !== '').map((one) => ({ ...one, round: true }))
  return { at: '', causes }
}
