import { and, eq, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db, type Queries } from '../../db/client'
import { valuesOf } from '../../db/sql'
import type { PassStep } from '../../tenancy/pass'
import { packedBodies } from '../schema'
import { changePack } from './change'
import { type Pack, readPacks } from './find'
import { archives } from './schema'

const a = alias(archives, 'a')

/** Deletes a pack whose events were all received before `before` (ms). @returns `after` is null once none is left */
export function purgeArchives(db: Db, before: number): Promise<PassStep> {
  return purgeOne(db, sql`${archives} ${a} WHERE ${lt(a.last_at, before)} ORDER BY ${a.last_at} LIMIT 1`)
}

/** Deletes a pack of a project, with the payloads of its events. */
export async function purgeArchivesOf(db: Db, projectId: string): Promise<PassStep> {
  const payloadsOf = (pack: Pack) => {
    const keys = pack.records.map(({ payload_id }) => Number(payload_id)).filter(Number.isSafeInteger)
    const own = and(eq(packedBodies.project_id, projectId), inArray(packedBodies.key, valuesOf(keys)))
    return { payloads: db.delete(packedBodies).where(own) }
  }
  return purgeOne(db, sql`${archives} ${a} WHERE ${a.project_id} = ${projectId} LIMIT 1`, payloadsOf)
}

/** @param besides what else is deleted with it */
async function purgeOne(db: Db, which: SQL, besides: (pack: Pack) => Queries = () => ({})): Promise<PassStep> {
  const [pack] = await readPacks(db, which)
  if (!pack) return { done: 0, after: null }
  await batch(db, { ...besides(pack), ...changePack(db, pack, []) })
  return { done: pack.records.length, after: 'more' }
}
