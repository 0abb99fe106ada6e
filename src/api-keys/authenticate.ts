import { run } from '../db/client'
import type { Runtime } from '../env'
import type { Actor, AskedFrom, CredentialKind } from '../http/actor'
import { writeLog } from '../http/log'
import { Fault } from '../lib/fault'
import { storeOfProject } from '../lib/ids'
import { isInNetworks } from '../lib/networks'
import { isAwake, scopeDormant } from '../tenancy/people'
import { byHash, bySecret, type Credential, type Keyring, roleOf } from './credential'
import { keyExpired, keyRevoked, keyRotated, networkNotAllowed, neverUsed, projectDeleted } from './faults'
import { makeCurrent } from './first-use'
import { heldBy, usersOf } from './key'
import { isSecret, KEY_PREFIX, storeOfSecret } from './secret'

/** An API key as a credential. A live key costs one indexed D1 read; a malformed secret costs none. */
export const apiKeyCredential: CredentialKind = {
  type: 'api_key',
  prefix: KEY_PREFIX,
  wellFormed: isSecret,
  lasting: true, // The project and scopes of a key never change.
  enter,
  lookup: (rt, secret, projectId, asked) => ({
    db: rt.db,
    query: byHash(rt.db, { hash: secret.hash }),
    judge: async ([row]) => {
      if (row) return judge(rt, row as Credential, { projectId, asked })
      return judgeOther(rt, await missed(rt, secret), { projectId, hash: secret.hash, asked })
    },
  }),
  requireAwake: async ({ directory }, actor, scope) => {
    if (!(await isAwake(directory, actor, scope))) throw scopeDormant(scope)
  },
  faults: ['unknown_key', 'key_rotated', 'key_revoked', 'key_expired', 'wrong_project', 'network_not_allowed'],
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
 * The key of a secret that the entered store does not have as a current one. Its project may be in another store, which is asked
 * once.
 *
 * @throws {Fault} `unknown_key`
 */
async function missed(rt: Runtime, { token, hash }: { token: string; hash: string }): Promise<Keyring> {
  const [found] = await run(rt.db, bySecret(rt.db, hash))
  if (found) return found
  const home = storeOfSecret(token)
  const other = home === rt.store ? null : rt.at(home)
  const [elsewhere] = other ? await run(other.db, bySecret(other.db, hash)) : []
  if (elsewhere) return elsewhere
  throw new Fault('unknown_key', 'API key not found. Check that the secret was minted in this deployment.')
}

/** The project that a request names, and where it comes from. */
type From = { projectId: string | null; asked: AskedFrom }

function judge(rt: Runtime, key: Credential, from: From): Actor {
  requireUsable(rt, key, from)
  return actorOf(key)
}

/**
 * Judges a secret that was not the current one of its key when that was read. One that waits for its first use becomes the current
 * one now.
 *
 * @throws {Fault} `key_rotated` for a secret that was replaced or never used in time; if the key has ended since, no newer secret works
 *   either, and the fault says so
 */
async function judgeOther(
  rt: Runtime,
  key: Keyring,
  { projectId, hash, asked }: From & { hash: string },
): Promise<Actor> {
  requireAlive(rt, key)
  const role = roleOf(key, hash, rt.now)
  if (role === 'replaced') throw keyRotated()
  if (role === 'unused') throw neverUsed()
  if (role === 'current') return judge(rt, key, { projectId, asked })
  requireUsable(rt, key, { projectId, asked })
  const { pending, pending_hash, previous } = key
  if (role === 'pending' && pending && pending_hash !== null) {
    // A call without a project takes no API keys, so it is no use of one.
    const isCurrent = projectId !== null && (await tryFirstUse(rt, { ...key, pending, pending_hash }, asked))
    return { ...actorOf(heldBy(key, pending), isCurrent), use: { last_used_at: isCurrent ? rt.now : key.last_used_at } }
  }
  if (!previous) throw keyRotated()
  return { ...actorOf(heldBy(key, previous), false), use: { last_used_at: previous.last_used_at, previous: hash } }
}

/**
 * Makes a secret current at its first use. If the database does not write, the request is not refused for it: the secret still waits,
 * and its next use tries again.
 *
 * @returns whether the secret is current now
 * @throws {Fault} `key_rotated` or `key_revoked` if that happened meanwhile
 */
async function tryFirstUse(rt: Runtime, key: Parameters<typeof makeCurrent>[1], asked: AskedFrom): Promise<boolean> {
  let after: Awaited<ReturnType<typeof makeCurrent>>
  try {
    after = await makeCurrent(rt, key, asked)
  } catch (error) {
    writeLog('warn', 'rotation_not_completed', { key_id: key.id, error: String(error) })
    return false
  }
  if (!after || after.revoked_at !== null) throw keyRevoked()
  if (after.hash !== key.pending_hash) throw keyRotated()
  return true
}

function requireUsable(rt: Runtime, key: Credential, { projectId, asked }: From): void {
  requireAlive(rt, key)
  if (key.project_deleted_at !== null) throw projectDeleted()
  // Without a project, the call takes no API keys at all, and the policy refuses this one.
  if (projectId !== null && key.project_id !== projectId) throw wrongProject()
  // Before its use is recorded or makes a secret the current one.
  const { allowed_networks: networks } = key
  if (networks !== null && !isInNetworks(asked.address, networks)) {
    throw networkNotAllowed(asked.address, { id: key.id, project_id: key.project_id, networks })
  }
}

function actorOf(key: Credential, isCurrent = true): Extract<Actor, { type: 'api_key' }> {
  return {
    type: 'api_key',
    id: key.id,
    project_id: key.project_id,
    scopes: key.scopes,
    minted_by: key.created_by,
    users: usersOf(key),
    use: { last_used_at: key.last_used_at },
    ...(key.allowed_networks && { networks: key.allowed_networks }),
    ...(key.rate_limit !== null && { per_minute: key.rate_limit }),
    ...(!isCurrent && { secret: 'other' }),
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
