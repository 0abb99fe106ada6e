import type { SQL } from 'drizzle-orm'
import { run } from '../db/client'
import type { Runtime } from '../env'
import type { Connection } from '../inbox/connections/connection'
import type { StoredSecret } from '../inbox/connections/schema'
import { findSealedOtherwise, replaceSecrets, secretsSealedOtherwise } from '../inbox/connections/secrets'
import { seal, sealContext, unseal } from '../lib/seal'
import {
  clientsSealedOtherwise,
  findClientsSealedOtherwise,
  replaceSecret,
  type SealedConnection,
} from '../sso/connections/connection'
import { secretContext } from '../sso/connections/oidc-client'
import { findKeysSealedOtherwise, keysSealedOtherwise, replaceBox, type SealedOtherwise } from '../token-keys/keys'
import { resealed } from '../token-keys/signing'

/** A row with something that is sealed under an older encryption key. `reseal` throws if no key opens it. */
export type SealedRow = { id: string; reseal: () => Promise<void> }

/** A column with sealed secrets: the cron seals them anew when there is a newer encryption key, and health counts them until then. */
export type SealedColumn = {
  /** For the log. */
  name: string
  /** Begins to walk the rows with something under another key than this one. The result reads the next so many of them. */
  walk: (rt: Runtime, key: number) => (most: number) => Promise<SealedRow[]>
  /** How many secrets of a project are under another key than this one, as an expression. */
  count: (projectId: string, key: number) => SQL<number>
}

const CONNECTION_SECRETS: SealedColumn = {
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

const ENTITLEMENT_KEYS: SealedColumn = {
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

/** The columns of every store. */
const OF_STORES: readonly SealedColumn[] = [CONNECTION_SECRETS, ENTITLEMENT_KEYS]

const CLIENT_SECRETS: SealedColumn = {
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

/** The columns of the directory, which is in store 0. */
export const OF_DIRECTORY: readonly SealedColumn[] = [CLIENT_SECRETS]

/** The columns of a store. */
export function sealedIn(store: number): readonly SealedColumn[] {
  return store === 0 ? [...OF_STORES, ...OF_DIRECTORY] : OF_STORES
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

async function resealClient({ directory, settings }: Runtime, row: SealedConnection) {
  const keys = settings.encryptionKeys
  if (row.secret === null) return
  await replaceSecret(
    directory,
    row,
    await seal(keys, await unseal(keys, row.secret, secretContext(row)), secretContext(row)),
  )
}

async function resealKey({ db, settings }: Runtime, row: SealedOtherwise) {
  await replaceBox(db, row, await resealed(settings.encryptionKeys, row.project_id, row))
}
