import { run } from '../db/client'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { copyAllMarks, listMarked, notDeleted } from './marks-store'

/** Deleted projects that one step looks at. */
const AT_ONCE = 1000

/**
 * Copies the marks of deleted and restored projects to the directory, if the call that set them in their store did not
 * reach it. This is one step over the deleted projects of the store, starting after the project `after`.
 *
 * @returns the project after which the next step continues; null once all are done
 */
export async function mendMarks(
  { db, directory, store }: Runtime,
  after: string,
): Promise<{ done: number; after: string | null }> {
  const [inStore, inDirectory] = await Promise.all([
    run(db, listMarked(db, store, after, AT_ONCE)),
    ifAnswered(directory, listMarked(directory, store, after, AT_ONCE)),
  ])
  if (!inDirectory) return { done: 0, after: null } // The next hour's pass looks again.
  // A list that is cut off says nothing about what follows it.
  const ends = [inStore, inDirectory].flatMap((list) => (list.length === AT_ONCE ? [list.at(-1)?.id ?? ''] : []))
  const until = ends.sort()[0] ?? null
  const upTo = <T extends { id: string }>(list: readonly T[]) => list.filter(({ id }) => until === null || id <= until)
  const copied = new Map(upTo(inDirectory).map((row) => [row.id, row.purge_at]))
  const deleted = upTo(inStore).filter(({ id, purge_at }) => copied.get(id) !== purge_at)
  const marked = new Set(inStore.map(({ id }) => id))
  const unsure = [...copied.keys()].filter((id) => !marked.has(id))
  const live = unsure.length > 0 ? await run(db, notDeleted(db, unsure)) : []
  const wrong = [...deleted, ...live.map(({ id }) => ({ id, deleted_at: null, purge_at: null }))]
  if (wrong.length > 0) await copyAllMarks(directory, wrong)
  return { done: wrong.length, after: until }
}
