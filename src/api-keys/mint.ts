import * as z from 'zod'
import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import type { Actor } from '../http/actor'
import { projectOf } from '../http/auth'
import { named, visibleText } from '../http/fields'
import { requireConfirmedFor, requireScopes } from '../http/policy'
import { SAMPLE } from '../http/samples'
import { invalidField } from '../http/validate'
import { SCOPES } from '../lib/access'
import { newId } from '../lib/ids'
import { allowedNetworks, rateLimit } from './bounds'
import { insertKey, type KeyRow } from './key'
import { MAX_KEY_NAME, MAX_LIFETIME } from './limits'
import { newSecret } from './secret'

export const ScopeName = named('Scope', z.enum(SCOPES))

export const MintBody = named(
  'MintApiKey',
  z.strictObject({
    name: visibleText(MAX_KEY_NAME).describe(
      'A label, for example the server that uses the key. It need not be unique.',
    ),
    scopes: z
      .array(ScopeName)
      .min(1)
      .optional()
      .describe('Default: every scope that the minting user has in the project.'),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .describe('When the key expires, at most ten years from now. Default: never.'),
    allowed_networks: allowedNetworks.optional(),
    rate_limit: rateLimit.optional(),
  }),
  { name: 'billing worker', scopes: ['billing:read'], expires_at: SAMPLE.end },
)

type Wanted = z.infer<typeof MintBody>
/** A key, with its secret. */
export type Minted = { row: KeyRow; secret: string }

/**
 * Mints a key in the actor's project. The secret is returned only here.
 *
 * @throws {Fault} `validation_failed`, `insufficient_role`, `confirmation_required` for scopes in `NEEDS_CONFIRMATION`, `key_limit_reached`
 */
export async function mintKey(rt: Runtime, actor: Actor, wanted: Wanted, change: Change): Promise<Minted> {
  const minted = await mintOnce(rt, actor, { ...wanted, id: newId('key', change.now) }, change)
  if (!minted) throw new Error('a new id is already taken')
  return minted
}

/**
 * Mints the key with this id, as {@link mintKey} does, so that a repeated request mints only one key.
 *
 * @param wanted.id a new id from this service, never one that the caller chose
 * @returns null if a key with this id was minted before
 */
export async function mintOnce(
  rt: Runtime,
  actor: Actor,
  wanted: Wanted & { id: string },
  change: Change,
): Promise<Minted | null> {
  const scopes = [...new Set(wanted.scopes ?? actor.scopes)]
  requireScopes(actor, scopes)
  requireConfirmedFor(actor, scopes)
  const secret = await newSecret(rt.store)
  const fields = {
    id: wanted.id,
    project_id: projectOf(actor),
    name: wanted.name,
    scopes,
    expires_at: expiryIn(wanted.expires_at, rt.now),
    created_by: change.actor.id,
    minter_email: actor.type === 'session' ? actor.email : null,
    allowed_networks: wanted.allowed_networks ?? null,
    rate_limit: wanted.rate_limit?.per_minute ?? null,
  }
  const row = await insertKey(rt.db, fields, secret, change)
  return row && { row, secret: secret.secret }
}

/** When something expires (ms), as a body says it; null for never. @throws {Fault} `validation_failed` */
export function expiryIn(text: string | null | undefined, now: number): number | null {
  if (text === null || text === undefined) return null
  const at = Date.parse(text)
  if (at > now && at <= now + MAX_LIFETIME) return at
  throw invalidField('/expires_at', 'out_of_range', 'must be in the future and at most ten years from now')
}
