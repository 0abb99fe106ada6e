import { run } from '../db/client'
import type { Runtime } from '../env'
import { ifAnswered } from '../http/read'
import { ofDirectory, ofStore, settingsOf } from '../tenancy/settings'
import { type Copy, copyAll, listSettings, settingsInDirectory } from './mend-settings-store'

/** Projects that one step looks at. */
const AT_ONCE = 1000

/**
 * Copies settings from the database that decides to the one that only shows them, if the call that changed them did not get
 * that far. This is one step over the projects of the store, starting after the project `after`.
 *
 * @returns the project after which the next step continues; null once all are done
 */
export async function mendSettings(
  { db, directory, store }: Runtime,
  after: string,
): Promise<{ done: number; after: string | null }> {
  const inStore = await run(db, listSettings(db, store, after, AT_ONCE))
  const ids = inStore.map(({ id }) => id)
  const found = ids.length > 0 ? await ifAnswered(directory, settingsInDirectory(directory, ids)) : []
  if (!found) return { done: 0, after: null } // The next hour's pass looks again.
  const inDirectory = new Map(found.map(({ id, text }) => [id, text]))
  const toStore: Copy[] = []
  const toDirectory: Copy[] = []
  for (const { id, text } of inStore) {
    const other = inDirectory.get(id)
    if (other === undefined || other === text) continue
    const [own, copied] = [settingsOf(JSON.parse(text)), settingsOf(JSON.parse(other))]
    const owned = ofDirectory(copied)
    if (JSON.stringify(owned) !== JSON.stringify(ofDirectory(own))) toStore.push({ id, text, change: owned })
    const change = ofStore(own)
    if (JSON.stringify(change) !== JSON.stringify(ofStore(copied))) toDirectory.push({ id, text: other, change })
  }
  await copyAll(db, toStore)
  await copyAll(directory, toDirectory)
  return { done: toStore.length + toDirectory.length, after: ids.length < AT_ONCE ? null : (ids.at(-1) ?? null) }
}
