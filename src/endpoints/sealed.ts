import { and, asc, eq, gt, or, type SQL, sql } from 'drizzle-orm'
import { type Db, run } from '../db/client'
import type { Runtime } from '../env'
import { type EndpointSecret, webhookEndpoints } from '../followers/schema'
import { seal, sealContext, unseal } from '../lib/seal'
import type { SealedColumn } from '../stores/sealed'
import { secretsReplaced } from './secrets'
import type { Endpoint } from './work'

/** The secrets that sign what endpoints get. */
export const ENDPOINT_SECRETS: SealedColumn = {
  name: 'webhook_endpoints.secrets',
  walk: (rt, key) => {
    let after = { project_id: '', id: '' }
    return async (most) => {
      const rows = await run(rt.db, findSealedOtherwise(rt.db, key, after, most))
      after = rows.at(-1) ?? after
      return rows.map((row) => ({ id: row.id, reseal: () => resealSecrets(rt, row) }))
    }
  },
  count: secretsSealedOtherwise,
}

async function resealSecrets({ db, settings }: Runtime, endpoint: Endpoint): Promise<void> {
  const keys = settings.encryptionKeys
  const renewed: EndpointSecret[] = []
  for (const secret of endpoint.secrets) {
    const context = sealContext(endpoint.project_id, endpoint.id, secret.id)
    renewed.push({ ...secret, ...(await seal(keys, await unseal(keys, secret, context), context)) })
  }
  await run(db, secretsReplaced(db, endpoint, renewed))
}

/** Reads endpoints with a secret that is sealed under another key than this one, in the order of their keys. */
function findSealedOtherwise(db: Db, key: number, after: { project_id: string; id: string }, limit: number) {
  const { project_id, id, secrets } = webhookEndpoints
  const has = sql`EXISTS (SELECT 1 FROM json_each(${secrets}) WHERE value->>'key' <> ${key})`
  const isAfter = or(gt(project_id, after.project_id), and(eq(project_id, after.project_id), gt(id, after.id)))
  return db.select().from(webhookEndpoints).where(and(isAfter, has)).orderBy(asc(project_id), asc(id)).limit(limit)
}

/** How many secrets of a project are sealed under another key than this one, as an expression. */
function secretsSealedOtherwise(projectId: string, key: number): SQL<number> {
  return sql`(SELECT count(*) FROM ${webhookEndpoints} CROSS JOIN json_each(${webhookEndpoints.secrets}) j
    WHERE ${eq(webhookEndpoints.project_id, projectId)} AND j.value ->> 'key' <> ${key})`
}
