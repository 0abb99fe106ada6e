import type { Context } from 'hono'
import { exposedSessionNotice } from '../accounts/security-mails'
import { sendNotice } from '../accounts/tell'
import { isSecret } from '../api-keys/secret'
import { isToken } from '../devices/token'
import type { Runtime } from '../env'
import { askedBy } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { sha256Hex } from '../lib/crypto'
import { pooled } from '../lib/pooled'
import { isSessionToken } from '../sessions/secret'
import { endExposed } from '../sessions/session'
import { endInStore, type Reported } from './end'
import { STORES_AT_ONCE } from './limits'

/** What somebody says that they found, and where. */
export type Finding = { secret: string; source: string | null; url: string | null }

/**
 * Ends what works with the secrets that were found: API keys, sessions and devices. Nothing is kept of the secrets but their hashes, and these
 * only where they were before. All stores are asked, because neither a device's token nor an older key names its own.
 *
 * @returns the hashes of those that are or were secrets of ours
 * @throws {Fault} `database_unavailable`: the same report again ends what is left
 */
export async function report(c: Context<HttpEnv>, findings: readonly Finding[]): Promise<ReadonlySet<string>> {
  const rt = c.get('rt')
  const ours = findings.filter(({ secret }) => isSecret(secret) || isToken(secret) || isSessionToken(secret))
  const hashed = await Promise.all(ours.map(async (one) => ({ ...one, hash: await sha256Hex(one.secret) })))
  const inStores = hashed.filter(({ secret }) => !isSessionToken(secret))
  const ofSessions = hashed.filter(({ secret }) => isSessionToken(secret)).map(({ hash }) => hash)
  const change = { actor: { type: 'system', id: 'exposures' }, ...askedBy(c), now: rt.now } as const
  const [found, sessions] = await Promise.all([
    inStores.length === 0
      ? []
      : pooled(STORES_AT_ONCE, rt.stores, (store) => endInStore(rt.at(store) as Runtime, inStores.map(named), change)),
    ofSessions.length === 0 ? [] : endSessions(c, ofSessions),
  ])
  return new Set([...found.flat(), ...sessions])
}

const named = ({ hash, source, url }: Reported): Reported => ({ hash, source, url })

/** Ends sessions, and tells their users. @returns the hashes of those that there are */
async function endSessions(c: Context<HttpEnv>, hashes: readonly string[]): Promise<string[]> {
  const { directory, now } = c.get('rt')
  const { found, users, counted } = await endExposed(directory, hashes, now)
  const allowed = new Set(counted.map(({ id }) => id))
  for (const user of users) {
    sendNotice(c, { user, due: user.notices, counted: allowed.has(user.id) }, exposedSessionNotice)
  }
  return found.map(({ hash }) => hash)
}
