import type * as z from 'zod'
import type { Change } from '../../audit/store'
import type { Runtime } from '../../env'
import { equalBytes, utf8 } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { newConnectionId, newId } from '../../lib/ids'
import { seal, sealContext, unseal } from '../../lib/seal'
import { VENDORS, vendorOf } from '../../vendors'
import { takeEffect } from '../receive/known-connections'
import { type Connection, type ConnectionRow, insertConnection, readConnection, updateConnection } from './connection'
import type { CreateBody, UpdateConnectionBody } from './fields'
import { HINT_HIDES, HINT_SHOWS } from './limits'
import type { StoredSecret } from './schema'
import { requireSealingKey } from './sealing'
import { addSecret } from './secrets'

/**
 * Connects a billing vendor, with its signing secret or without one yet: some vendors show the secret only once they
 * have the ingest URL.
 *
 * @throws {Fault} `validation_failed`, `connection_limit_reached`, `encryption_key_unavailable`
 */
export async function connect(
  rt: Runtime,
  project_id: string,
  { signing_secret, ...fields }: z.infer<typeof CreateBody>,
  change: Change,
): Promise<ConnectionRow> {
  const { vendor } = fields
  requireOwnIds(vendor, fields)
  const id = newConnectionId(rt.now, rt.store)
  const secrets: StoredSecret[] = []
  if (signing_secret !== undefined) {
    requireForm(VENDORS[vendor].checkSecret(signing_secret))
    await requireSealingKey(rt)
    secrets.push(await sealedSecret(rt, { project_id, id }, { id: newId('sec', rt.now), text: signing_secret }, change))
  }
  return insertConnection(rt.db, { id, project_id, ...fields, secrets }, change)
}

/**
 * Changes a connection's name, status or mode. One that is enabled or paused takes the next delivery.
 *
 * @throws {Fault} `not_found`, `validation_failed`, `api_key_other_mode`
 */
export async function changeConnection(
  rt: Runtime,
  of: Pick<Connection, 'project_id' | 'id'>,
  changes: z.infer<typeof UpdateConnectionBody>,
  change: Change,
): Promise<ConnectionRow> {
  if (changes.customer_is_external_id)
    requireOwnIds((await readConnection(rt.db, of.project_id, of.id)).vendor, changes)
  const row = await updateConnection(rt.db, of, changes, change)
  if (changes.status === 'active' || changes.status === 'paused') await takeEffect(of.id)
  return row
}

/**
 * Adds a signing secret, which is good for the next delivery.
 *
 * @throws {Fault} `not_found`, `validation_failed`, `secret_exists`, `secret_limit_reached`,
 *   `encryption_key_unavailable`
 */
export async function addSigningSecret(
  rt: Runtime,
  of: Pick<Connection, 'project_id' | 'id'>,
  signingSecret: string,
  change: Change,
): Promise<ConnectionRow> {
  await requireSealingKey(rt)
  // If another request changes the connection in between, it may have added this very secret: look again.
  for (;;) {
    const connection = await readConnection(rt.db, of.project_id, of.id)
    requireForm(vendorOf(connection.vendor)?.checkSecret(signingSecret) ?? null)
    for (const known of connection.secrets) {
      // A secret that cannot be decrypted verifies nothing, so it may be added again.
      const context = sealContext(of.project_id, of.id, known.id)
      const text = await unseal(rt.settings.encryptionKeys, known, context).catch(() => '')
      if (equalBytes(utf8(text), utf8(signingSecret))) {
        throw new Fault('secret_exists', 'Add a different secret. This one is already live.')
      }
    }
    const own = { id: newId('sec', rt.now), text: signingSecret }
    const secret = await sealedSecret(rt, of, own, change)
    const row = await addSecret(rt.db, connection, { secret }, change)
    if (!row) continue
    await takeEffect(of.id)
    return row
  }
}

/** Refuses `customer_is_external_id` for a vendor that makes the ids of its customers itself. */
function requireOwnIds(vendor: string, { customer_is_external_id }: { customer_is_external_id?: boolean | undefined }) {
  if (!customer_is_external_id || vendorOf(vendor)?.takesCustomerIds) return
  const wrong = `cannot be true for ${vendor}, which makes the ids of its customers itself`
  throw new Fault('validation_failed', `\`customer_is_external_id\` ${wrong}.`, {
    errors: [{ pointer: '/customer_is_external_id', code: 'out_of_range', message: wrong }],
  })
}

/** @param wrong what the vendor's check says is wrong; null if nothing is */
function requireForm(wrong: string | null): void {
  if (wrong === null) return
  throw new Fault('validation_failed', `\`signing_secret\` is not in the vendor's format: ${wrong}.`, {
    errors: [{ pointer: '/signing_secret', code: 'malformed', message: wrong }],
  })
}

/** A signing secret, encrypted for this connection. */
export async function sealedSecret(
  { now, settings }: Runtime,
  connection: Pick<Connection, 'project_id' | 'id'>,
  { id, text }: { id: string; text: string },
  { actor }: Change,
): Promise<StoredSecret> {
  const box = await seal(settings.encryptionKeys, text, sealContext(connection.project_id, connection.id, id))
  return { id, hint: hintOf(text), created_at: now, added_by: actor.id, ...box }
}

/** The end of a secret, for people to recognize it by, without a leading user, scheme or vendor's prefix. */
function hintOf(secret: string): string {
  const own = secret.replace(/^[^:\s]*[:\s]|^(?:[a-z]+_){1,2}/, '')
  return own.slice(HINT_HIDES).slice(-HINT_SHOWS)
}
