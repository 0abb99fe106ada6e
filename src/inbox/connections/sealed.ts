import { and, asc, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { type Db, run } from '../../db/client'
import type { Runtime } from '../../env'
import { seal, sealContext, unseal } from '../../lib/seal'
import type { SealedColumn } from '../../stores/sealed'
import type { Connection } from './connection'
import { connections, type StoredSecret } from './schema'

/** The signing secrets of connections. */
export const CONNECTION_SECRETS: SealedColumn = {
  name: 'connections.secrets',
  walk: (rt, key) => {
    let after = ''
    return async (most) => {
      const rows = await run(rt.db, findSealedOtherwise(rt.db, key, after, most))
      after = rows.at(-1)?.id ?? after
      return rows.map((row) => ({ id: row.id, reseal: () => resealSecrets(rt, row) }))
    }
  },
  count: secretsSealedOtherwise,
}

async function resealSecrets({ db, settings }: Runtime, { id, project_id, version, secrets }: Connection) {
  const keys = settings.encryptionKeys
  const renewed: StoredSecret[] = []
  for (const secret of secrets) {
    const context = sealContext(project_id, id, secret.id)
    renewed.push({ ...secret, ...(await seal(keys, await unseal(keys, secret, context), context)) })
  }
  await replaceSecrets(db, { id, version }, renewed)
}

/** Reads connections with a secret that is sealed under another key than this one, in the order of their ids. */
function findSealedOtherwise(db: Db, key: number, after: string, limit: number) {
  const has = sql`EXISTS (SELECT 1 FROM json_each(${connections.secrets}) WHERE value->>'key' <> ${key})`
  return db
    .select()
    .from(connections)
    .where(and(gt(connections.id, after), isNull(connections.deleted_at), has))
    .orderBy(asc(connections.id))
    .limit(limit)
}

/** How many signing secrets of a project are sealed under another key than this one, as an expression. */
function secretsSealedOtherwise(projectId: string, key: number): SQL<number> {
  const ofProject = and(eq(connections.project_id, projectId), isNull(connections.deleted_at))
  return sql`(SELECT count(*) FROM ${connections} CROSS JOIN json_each(${connections.secrets}) j
    WHERE ${ofProject} AND j.value ->> 'key' <> ${key})`
}

/** Replaces the secrets of this version with the same ones, resealed. A newer version is left alone. */
async function replaceSecrets(
  db: Db,
  { id, version }: Pick<Connection, 'id' | 'version'>,
  secrets: StoredSecret[],
): Promise<void> {
  const same = and(eq(connections.id, id), eq(connections.version, version))
  await run(db, db.update(connections).set({ secrets }).where(same))
}
