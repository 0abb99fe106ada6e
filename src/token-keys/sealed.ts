import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type Db, raw, run } from '../db/client'
import type { Runtime } from '../env'
import type { Sealed } from '../lib/seal'
import type { SealedColumn } from '../stores/sealed'
import { entitlementKeys } from './schema'
import { resealed } from './signing'

const k = alias(entitlementKeys, 'k')

/** The private keys that sign entitlement tokens. */
export const ENTITLEMENT_KEYS: SealedColumn = {
  name: 'entitlement_keys.box',
  walk: (rt, key) => {
    let after: SealedOtherwise | null = null
    return async (most) => {
      const rows: SealedOtherwise[] = await run(rt.db, findKeysSealedOtherwise(rt.db, key, after, most))
      after = rows.at(-1) ?? after
      return rows.map((row) => ({ id: row.kid, reseal: () => resealKey(rt, row) }))
    }
  },
  count: keysSealedOtherwise,
}

async function resealKey({ db, settings }: Runtime, row: SealedOtherwise) {
  await replaceBox(db, row, await resealed(settings.encryptionKeys, row.project_id, row))
}

/** A private key that is sealed under another encryption key than the newest one. */
type SealedOtherwise = ReturnType<typeof findKeysSealedOtherwise>['_']['result'][number]
type Place = { project_id: string; kid: string }

/** Reads private keys that are sealed under another encryption key than this one, in the order of their primary key. */
function findKeysSealedOtherwise(db: Db, key: number, after: Place | null, limit: number) {
  return raw(
    db,
    {
      project_id: k.project_id,
      kid: k.kid,
      key: sql<number>`${k.key}`,
      box: sql<string>`${k.box}`,
    },
    (fields) => sql`SELECT ${fields} FROM ${entitlementKeys} ${k} NOT INDEXED
      WHERE (${k.project_id}, ${k.kid}) > (${after?.project_id ?? ''}, ${after?.kid ?? ''}) AND ${ne(k.key, key)}
      ORDER BY ${k.project_id}, ${k.kid} LIMIT ${limit}`,
  )
}

/** How many private keys of a project are sealed under another encryption key than this one, as an expression. */
function keysSealedOtherwise(projectId: string, key: number): SQL<number> {
  return sql`(SELECT count(*) FROM ${entitlementKeys} ${k} WHERE ${and(eq(k.project_id, projectId), ne(k.key, key))})`
}

/** Replaces the box of a private key with the same one, resealed. One that was retired or replaced meanwhile is left alone. */
async function replaceBox(db: Db, was: SealedOtherwise, { key, box }: Sealed): Promise<void> {
  const same = and(
    eq(entitlementKeys.project_id, was.project_id),
    eq(entitlementKeys.kid, was.kid),
    eq(entitlementKeys.box, was.box),
  )
  await run(db, db.update(entitlementKeys).set({ key, box }).where(same))
}
