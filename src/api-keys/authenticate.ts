import { batch, run } from '../db/client'
import type { Runtime } from '../env'
import type { Actor, CredentialKind } from '../http/actor'
import { writeLog } from '../http/log'
import { BoundedMap } from '../lib/bounded-map'
import { Fault } from '../lib/fault'
import { storeOfProject } from '../lib/ids'
import { isAwake, scopeDormant } from '../tenancy/people'
import { keyExpired, keyRevoked, keyRotated, projectDeleted } from './faults'
import { byHash, byRetiredHash, type Credential, touchKey, usersOf } from './key'
import { LAST_USED_EVERY, MAX_RECORDED_USES } from './limits'
import { isSecret, KEY_PREFIX, storeOfSecret } from './secret'

/** An API key as a credential. A live key costs one indexed D1 read; a malformed secret costs none. */
export const apiKeyCredential: CredentialKind = {
  type: 'api_key',
  prefix: KEY_PREFIX,
  wellFormed: isSecret,
  lasting: true, // The project and scopes of a key never change.
  enter,
  lookup: (rt, secret, projectId) => ({
    db: rt.db,
    query: byHash(rt.db, { hash: secret.hash }),
    judge: async (rows) => judge(rt, (rows[0] as Credential | undefined) ?? (await missed(rt, secret)), projectId),
  }),
  requireAwake: async ({ directory }, actor, scope) => {
    if (!(await isAwake(directory, actor, scope))) throw scopeDormant(scope)
  },
  faults: ['unknown_key', 'key_rotated', 'key_revoked', 'key_expired', 'wrong_project'],
  ended: ['key_rotated', 'key_revoked', 'key_expired', 'wrong_project'],
  scheme: { name: 'api_key', description: '`svc_v1_` + 96 lower-case hex characters.' },
}

/**
 * A key is in the store of its project, which the project's id names. If the caller does not name a project, or names
 * an id that is not valid, the secret says in which store it was made.
 */
function enter(rt: Runtime, token: string, projectId: string | null): Runtime {
  const named = projectId === null ? null : storeOfProject(projectId)
  const inside = named === null ? (rt.at(storeOfSecret(token)) ?? rt.at(0)) : rt.at(named)
  if (!inside) throw wrongProject()
  return inside
}

/**
 * The key of a secret that the entered store does not have. Its project may be in another store, which is asked once.
 *
 * @throws {Fault} `unknown_key`; `key_rotated` for a secret that a rotation replaced; `key_revoked` or `key_expired` if
 *   its key has ended since
 */
async function missed(rt: Runtime, { token, hash }: { token: string; hash: string }): Promise<Credential> {
  let [rotated] = await run(rt.db, byRetiredHash(rt.db, hash))
  const home = storeOfSecret(token)
  const other = rotated || home === rt.store ? null : rt.at(home)
  if (other) {
    const found = await batch(other.db, { keys: byHash(other.db, { hash }), rotated: byRetiredHash(other.db, hash) })
    if (found.keys[0]) return found.keys[0]
    rotated = found.rotated[0]
  }
  if (!rotated)
    throw new Fault('unknown_key', 'API key not found. Check that the secret was minted in this deployment.')
  requireAlive(rt, rotated) // If the key has ended since, no newer secret works either.
  throw keyRotated()
}

function judge(rt: Runtime, key: Credential, projectId: string | null): Actor {
  requireAlive(rt, key)
  if (key.project_deleted_at !== null) throw projectDeleted()
  // Without a project, the call takes no API keys at all, and the policy refuses this one.
  if (projectId !== null && key.project_id !== projectId) throw wrongProject()
  recordUse(rt, key)
  return {
    type: 'api_key',
    id: key.id,
    project_id: key.project_id,
    scopes: key.scopes,
    minted_by: key.created_by,
    users: usersOf(key),
  }
}

function wrongProject(): Fault {
  return new Fault('wrong_project', 'Send the X-Project-Id of the project this key was minted in.')
}

function requireAlive(rt: Runtime, key: Pick<Credential, 'revoked_at' | 'expires_at'>): void {
  if (key.revoked_at !== null) throw keyRevoked()
  if (key.expires_at !== null && key.expires_at <= rt.now) {
    throw keyExpired()
  }
}

/** When this isolate last recorded a use of each key (ms), by the id of the key. */
const recorded = new BoundedMap<string, number>(MAX_RECORDED_USES)

/**
 * Updates last_used_at at most once a minute for each key. If the row that was just read is fresh, this costs nothing.
 * Otherwise the isolate's map (set before any await) lets one request through, a KV marker keeps other isolates off D1,
 * and the condition of the UPDATE enforces the limit whatever those two say. A failure here never fails the request.
 */
function recordUse(rt: Runtime, key: Credential): void {
  if (key.last_used_at !== null && key.last_used_at > rt.now - LAST_USED_EVERY) return
  const seen = recorded.get(key.id)
  if (seen !== undefined && seen > rt.now - LAST_USED_EVERY) return
  recorded.set(key.id, rt.now)
  rt.waitUntil(
    writeUse(rt, key.id).catch((error) => {
      recorded.delete(key.id) // The next request tries again.
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
