import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { type Db, run } from '../../db/client'
import type { Runtime } from '../../env'
import { seal, unseal } from '../../lib/seal'
import type { SealedColumn } from '../../stores/sealed'
import { type VendorKeyRow, vendorKeyContext } from './keys'
import { vendorKeys } from './schema'

/** The keys of vendors' APIs. */
export const VENDOR_KEYS: SealedColumn = {
  name: 'vendor_keys.box',
  walk: (rt, key) => {
    let after: Sealed | null = null
    return async (most) => {
      const rows: Sealed[] = await run(rt.db, findKeysSealedOtherwise(rt.db, key, after, most))
      after = rows.at(-1) ?? after
      return rows.map((row) => ({ id: row.connection_id, reseal: () => resealKey(rt, row) }))
    }
  },
  count: keysSealedOtherwise,
}

/** A key that is sealed under another encryption key than the newest one. */
type Sealed = Pick<VendorKeyRow, 'project_id' | 'connection_id' | 'key' | 'box'>

async function resealKey({ db, settings }: Runtime, row: Sealed): Promise<void> {
  const context = vendorKeyContext(row)
  const renewed = await seal(settings.encryptionKeys, await unseal(settings.encryptionKeys, row, context), context)
  // One that was replaced or removed meanwhile is left alone.
  const same = and(
    eq(vendorKeys.project_id, row.project_id),
    eq(vendorKeys.connection_id, row.connection_id),
    eq(vendorKeys.box, row.box),
  )
  await run(db, db.update(vendorKeys).set(renewed).where(same))
}

/** Reads keys that are sealed under another encryption key than this one, in the order of their primary key. */
function findKeysSealedOtherwise(db: Db, key: number, after: Sealed | null, limit: number) {
  const { project_id, connection_id } = vendorKeys
  const later = sql`(${project_id}, ${connection_id}) > (${after?.project_id ?? ''}, ${after?.connection_id ?? ''})`
  return db
    .select({ project_id, connection_id, key: vendorKeys.key, box: vendorKeys.box })
    .from(vendorKeys)
    .where(and(later, ne(vendorKeys.key, key)))
    .orderBy(project_id, connection_id)
    .limit(limit)
}

/** How many of a project's keys are sealed under another encryption key than this one, as an expression. */
function keysSealedOtherwise(projectId: string, key: number): SQL<number> {
  const otherwise = and(eq(vendorKeys.project_id, projectId), ne(vendorKeys.key, key))
  return sql`(SELECT count(*) FROM ${vendorKeys} WHERE ${otherwise})`
}
