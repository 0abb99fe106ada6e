import { sql } from 'drizzle-orm'
import { batch, type Db, run } from '../db/client'
import { forgottenState } from './forget'
import { MAX_ROW_BYTES_READ } from './limits'
import { isStale, type Projection, projectionsOf, type StoredObjectKey, selectObjects, writeObjects } from './store'
import { type ConsumerExpression, tellOfObjects, toldOf } from './tell'

const always = () => sql`1`
const never = () => sql`0`

/**
 * Removes from objects what is about a person. Objects without a row, and those without anything to remove, write nothing. If
 * events change an object meanwhile, it is read again.
 */
export async function forgetObjects(
  db: Db,
  keys: readonly StoredObjectKey[],
  consumerOf: ConsumerExpression,
): Promise<void> {
  if (keys.length === 0) return
  const most = keys.length > 1 ? MAX_ROW_BYTES_READ : Number.MAX_SAFE_INTEGER
  const wanted = keys.map((key) => ({ ...key, about: null }))
  const found = projectionsOf(await run(db, selectObjects(db, wanted, most, never)))
  if (!found) {
    const half = Math.ceil(keys.length / 2)
    await forgetObjects(db, keys.slice(0, half), consumerOf)
    return forgetObjects(db, keys.slice(half), consumerOf)
  }
  const changed = [...found.rows.values()].flatMap((row): Projection[] => {
    const candidates = row.candidates.map(forgottenState)
    return JSON.stringify(candidates) === JSON.stringify(row.candidates)
      ? []
      : [
          {
            ...row,
            candidates,
            changes: toldOf(row.key, row, { ...row, candidates }, undefined),
          },
        ]
  })
  if (changed.length === 0) return
  try {
    await batch(db, { ...writeObjects(db, changed, always, never), ...tellOfObjects(db, changed, always, consumerOf) })
  } catch (error) {
    if (!isStale(error)) throw error
    await forgetObjects(db, keys, consumerOf)
  }
}
