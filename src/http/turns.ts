import { BoundedMap } from '../lib/bounded-map'
import { MAKING_DEADLINE, MAX_TURNS, TURN_POLL_MS } from './limits'

/** What has its turn in this isolate, and since when (ms). */
const turns = new BoundedMap<string, { since: number }>(MAX_TURNS)

/**
 * Waits until nothing else in this isolate has one of the keys, and then takes all of them. The turn ends with what this returns, or after
 * a time: the runtime ends some requests without a word.
 *
 * @param until for how long to wait: a time (ms)
 * @returns what ends the turn; null if it does not come
 */
export async function waitForTurn(keys: readonly string[], until: number): Promise<(() => void) | null> {
  const isTaken = (key: string) => Date.now() - (turns.get(key)?.since ?? 0) < MAKING_DEADLINE
  // It looks again and again, because a promise that another request keeps can end with that request.
  while (keys.some(isTaken)) {
    if (Date.now() >= until) return null
    await scheduler.wait(TURN_POLL_MS)
  }
  const turn = { since: Date.now() }
  for (const key of keys) turns.set(key, turn)
  return () => {
    for (const key of keys) if (turns.get(key) === turn) turns.delete(key)
  }
}
