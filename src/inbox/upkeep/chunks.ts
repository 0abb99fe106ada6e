import { type Db, type Query, run } from '../../db/client'
import { CHUNK_ROWS, MAX_CHUNKS } from './limits'

/** What one step did, and whether there may be more to do. */
export type Chunk = { done: number; more: boolean }

/** A step that deletes at most {@link CHUNK_ROWS} rows. */
export function chunkOf(deleted: readonly unknown[]): Chunk {
  return { done: deleted.length, more: deleted.length === CHUNK_ROWS }
}

/**
 * Repeats a step for every project that has something to do, until it has done it or has done its share of a day. A
 * project that has nothing to do costs no round trip.
 *
 * @param projects the ids of the projects that have something to do
 * @returns the sum of what was done
 */
export async function eachProject(
  db: Db,
  projects: Query<{ id: string }[]>,
  step: (projectId: string) => Promise<Chunk>,
): Promise<number> {
  let sum = 0
  for (const { id } of await run(db, projects)) {
    for (let chunk = 0; chunk < MAX_CHUNKS; chunk++) {
      const { done, more } = await step(id)
      sum += done
      if (!more) break
    }
  }
  return sum
}
