import { batch, run } from '../db/client'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { idFloor } from '../lib/ids'
import { DAY, HOUR } from '../lib/time'
import { halfMadeDeleted, inDirectory, projectsBetween } from './half-made-store'

/** Projects that one step looks at. */
const AT_ONCE = 1000

/**
 * Removes what is left of projects that were written to their store but not to the directory: nobody has ever reached
 * them. This is one step over the projects that were created in the last week, but not in the last hour, starting after
 * the project `after`.
 *
 * @returns the project after which the next step continues; null once all are done
 */
export async function removeHalfMade(
  { db, directory, store, now }: Runtime,
  after: string,
): Promise<{ done: number; after: string | null }> {
  const range = { from: idFloor('prj', now - 7 * DAY), to: idFloor('prj', now - HOUR), after }
  const ids = (await run(db, projectsBetween(db, store, range, AT_ONCE))).map(({ id }) => id)
  if (ids.length === 0) return { done: 0, after: null }
  const known = await ifAnswered(directory, inDirectory(directory, ids))
  if (!known) return { done: 0, after: null } // The next hour's pass looks again.
  const there = new Set(known.map(({ id }) => id))
  const missing = ids.filter((id) => !there.has(id))
  const { gone } = missing.length > 0 ? await batch(db, halfMadeDeleted(db, missing)) : { gone: [] }
  return { done: gone.length, after: ids.length < AT_ONCE ? null : (ids.at(-1) ?? null) }
}
