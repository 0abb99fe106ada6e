import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { type KeyRing, sealContext, sealingKey, unseal } from '../../lib/seal'
import type { Connection } from './connection'
import { KEY_SAMPLE, KEY_STORES } from './limits'
import { findSealed } from './secrets'

type Sealed = Pick<Connection, 'id' | 'project_id' | 'secrets'>

/** How many of a connection's signing secrets no key opens. */
export async function countUnreadable(keys: KeyRing, { id, project_id, secrets }: Sealed): Promise<number> {
  let unreadable = 0
  for (const secret of secrets) {
    try {
      await unseal(keys, secret, sealContext(project_id, id, secret.id))
    } catch {
      unreadable += 1 // Counted: the caller decides what that means.
    }
  }
  return unreadable
}

/** Key rings that have opened a secret, and those whose sealing key has. Neither can change in an isolate. */
const proven = new WeakSet<KeyRing>()
const provenToSeal = new WeakSet<KeyRing>()

/**
 * Checks the encryption keys against stored secrets, until they have opened one: keys that open none of the newest
 * secrets were lost or changed. The first store that has a secret decides; one that does not answer is passed over.
 *
 * @throws {Fault} `encryption_key_unavailable`; `database_unavailable` of store 0
 */
export async function requireKeys({ stores, at }: Runtime): Promise<void> {
  for (const store of stores.slice(0, KEY_STORES)) {
    try {
      if (await requireOneOpens(at(store) as Runtime, null, proven)) return
    } catch (error) {
      if (store === 0 || !(error instanceof Fault) || error.fault !== 'database_unavailable') throw error
    }
  }
}

/**
 * Checks the key that encrypts now in the same way. What a wrong key sealed would be lost as soon as the right key is
 * restored under its number.
 *
 * @throws {Fault} as {@link requireKeys}
 */
export async function requireSealingKey(rt: Runtime): Promise<void> {
  await requireOneOpens(rt, sealingKey(rt.settings.encryptionKeys), provenToSeal)
}

/** @returns whether there was a secret to open */
async function requireOneOpens(rt: Runtime, number: number | null, known: WeakSet<KeyRing>): Promise<boolean> {
  const keys = rt.settings.encryptionKeys
  if (known.has(keys)) return true
  const rows = await run(rt.db, findSealed(rt.db, number, KEY_SAMPLE))
  for (const row of rows) {
    const secrets = row.secrets.filter(({ key }) => number === null || key === number)
    if ((await countUnreadable(keys, { ...row, secrets })) === secrets.length) continue
    known.add(keys)
    return true
  }
  if (rows.length > 0) throw keyUnavailable('The encryption keys do not open the stored signing secrets.')
  return false
}

/** @param what the problem, as a sentence */
export function keyUnavailable(what: string): Fault {
  const restore = 'The operator must restore the ENCRYPTION_KEY_… that encrypted them.'
  return new Fault('encryption_key_unavailable', `${what} ${restore}`)
}
