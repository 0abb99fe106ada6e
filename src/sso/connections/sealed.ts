import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { type Directory, run } from '../../db/client'
import type { Runtime } from '../../env'
import { ssoConnections } from '../../identities/schema'
import { type Sealed, seal, unseal } from '../../lib/seal'
import type { SealedColumn } from '../../stores/sealed'
import { secretContext } from './oidc-client'

/** The client secrets of single sign-on connections. In the directory. */
export const CLIENT_SECRETS: SealedColumn = {
  name: 'sso_connections.secret',
  walk: (rt, key) => {
    let after = ''
    return async (most) => {
      const rows = await run(rt.directory, findClientsSealedOtherwise(rt.directory, key, after, most))
      after = rows.at(-1)?.id ?? after
      return rows.map((row) => ({ id: row.id, reseal: () => resealClient(rt, row) }))
    }
  },
  count: clientsSealedOtherwise,
}

async function resealClient({ directory, settings }: Runtime, row: SealedConnection) {
  const keys = settings.encryptionKeys
  if (row.secret === null) return
  await replaceSecret(
    directory,
    row,
    await seal(keys, await unseal(keys, row.secret, secretContext(row)), secretContext(row)),
  )
}

/** A connection whose client secret is sealed. */
type SealedConnection = { project_id: string; id: string; secret: Sealed | null }

/** Reads connections whose client secret is sealed under another key than this one, in the order of their ids. */
function findClientsSealedOtherwise(directory: Directory, key: number, after: string, most: number) {
  const { project_id, id, secret } = ssoConnections
  return directory
    .select({ project_id, id, secret })
    .from(ssoConnections)
    .where(and(gt(id, after), sql`${secret} ->> 'key' <> ${key}`))
    .orderBy(id)
    .limit(most)
}

/** How many client secrets of a project are sealed under another key than this one, as an expression. */
function clientsSealedOtherwise(projectId: string, key: number): SQL<number> {
  const { project_id, secret } = ssoConnections
  return sql`(SELECT count(*) FROM ${ssoConnections} WHERE ${eq(project_id, projectId)} AND ${secret} ->> 'key' <> ${key})`
}

/** Replaces the sealed secret of a connection, unless it has changed since it was read. */
async function replaceSecret(directory: Directory, read: SealedConnection, secret: Sealed): Promise<void> {
  const unchanged = and(
    eq(ssoConnections.project_id, read.project_id),
    eq(ssoConnections.id, read.id),
    sql`${ssoConnections.secret} ->> 'box' = ${read.secret?.box}`,
  )
  await run(directory, directory.update(ssoConnections).set({ secret }).where(unchanged))
}
