import { run } from '../db/client'
import type { Runtime } from '../env'
import type { Actor, CredentialKind } from '../http/auth'
import { writeLog } from '../http/log'
import { BoundedMap } from '../lib/bounded-map'
import { Fault } from '../lib/fault'
import { LAST_USED_EVERY, MAX_RECORDED_USES } from './limits'
import { isSecret, KEY_PREFIX } from './secret'
import { byHash, byRetiredHash, type Credential, touchKey } from './store'

/** An API key as a credential. A live key costs one indexed D1 read; a malformed secret costs none. */
export const apiKeyCredential: CredentialKind = {
  type: 'api_key',
  prefix: KEY_PREFIX,
  wellFormed: isSecret,
  lasting: true, // a key's project and scopes are as they were minted
  lookup: (rt, hash, projectId) => ({
    query: byHash(rt.db, hash),
    judge: (rows) => judge(rt, rows[0] as Credential | undefined, hash, projectId),
  }),
  faults: ['unknown_key', 'key_rotated', 'key_revoked', 'key_expired', 'wrong_project'],
  scheme: { name: 'api_key', description: '`svc_v1_` + 96 lower-case hex characters.' },
}

async function judge(rt: Runtime, key: Credential | undefined, hash: string, projectId: string | null): Promise<Actor> {
  if (!key) {
    const [rotated] = await run(rt.db, byRetiredHash(rt.db, hash))
    if (!rotated)
      throw new Fault('unknown_key', 'No key has this secret: check that it was copied from this deployment.')
    requireAlive(rt, rotated) // else there is no newer secret to point to
    throw new Fault('key_rotated', 'Use the secret that the rotation returned.')
  }
  requireAlive(rt, key)
  // Only calls that take no API key ask for no project: they refuse the key for what it is.
  if (projectId !== null && key.project_id !== projectId) {
    throw new Fault('wrong_project', 'Send the X-Project-Id of the project this key was minted in.')
  }
  recordUse(rt, key)
  return {
    type: 'api_key',
    id: key.id,
    project_id: key.project_id,
    scopes: key.scopes,
    minted_by: key.created_by,
  }
}

function requireAlive(rt: Runtime, key: Pick<Credential, 'revoked_at' | 'expires_at'>): void {
  if (key.revoked_at !== null) throw new Fault('key_revoked', 'Mint a new key: this one was revoked.')
  if (key.expires_at !== null && key.expires_at <= rt.now) {
    throw new Fault('key_expired', 'Mint a new key: this one is past its expires_at.')
  }
}

/** When this isolate last saw to a key's last_used_at (ms), by the key's id. */
const recorded = new BoundedMap<string, number>(MAX_RECORDED_USES)

/**
 * Keeps last_used_at, at no cost while it is fresh: the row just read says so. Else this isolate's map lets one
 * request through (set before any await), the KV marker keeps other isolates off D1, and the statement's condition
 * makes "at most once per minute per key" true whatever the two say. A failure here never fails the request.
 */
function recordUse(rt: Runtime, key: Credential): void {
  if (key.last_used_at !== null && key.last_used_at > rt.now - LAST_USED_EVERY) return
  const seen = recorded.get(key.id)
  if (seen !== undefined && seen > rt.now - LAST_USED_EVERY) return
  recorded.set(key.id, rt.now)
  rt.waitUntil(
    writeUse(rt, key.id).catch((error) => {
      recorded.delete(key.id) // the next request tries again
      writeLog('warn', 'last_used_at_not_recorded', { key_id: key.id, error: String(error) })
    }),
  )
}

async function writeUse(rt: Runtime, keyId: string): Promise<void> {
  const marker = `last_used:${keyId}`
  if ((await rt.kv.get(marker)) !== null) return
  await rt.kv.put(marker, String(rt.now), { expirationTtl: LAST_USED_EVERY / 1000 })
  await touchKey(rt.db, keyId, rt.now)
}
