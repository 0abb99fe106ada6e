import { lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { batch, type Db } from '../../db/client'
import type { PassStep } from '../../tenancy/pass'
import { changePack } from './change'
import { readPacks } from './find'
import { archives } from './schema'

const a = alias(archives, 'a')

/** Deletes a pack whose events were all received before `before` (ms). @returns `after` is null once none is left */
export function purgeArchives(db: Db, before: number): Promise<PassStep> {
  return purgeOne(db, sql`${archives} ${a} WHERE ${lt(a.last_at, before)} ORDER BY ${a.last_at} LIMIT 1`)
}

/** Deletes a pack of a project, with the keys under which its events are found. */
export function purgeArchivesOf(db: Db, projectId: string): Promise<PassStep> {
  return purgeOne(db, sql`${archives} ${a} WHERE ${a.project_id} = ${projectId} LIMIT 1`)
}

async function purgeOne(db: Db, which: SQL): Promise<PassStep> {
  const [pack] = await readPacks(db, which)
  if (!pack) return { done: 0, after: null }
  await batch(db, changePack(db, pack, []))
  return { done: pack.records.length, after: 'more' }
}
