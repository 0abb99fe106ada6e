import { and, gt, gte, isNull, ne, or } from 'drizzle-orm'
import * as z from 'zod'
import { audited, type Change } from '../audit/store'
import { batch, type Db } from '../db/client'
import type { Runtime } from '../env'
import { named, visibleText } from '../http/fields'
import { invalidField } from '../http/validate'
import { requireFound } from '../lib/fault'
import { iso } from '../lib/time'
import { findKey, type KeyRow, keyEntry, keysOfProject } from './key'
import { MAX_KEY_NAME } from './limits'
import { apiKeys } from './schema'

export const UpdateKeyBody = named(
  'UpdateApiKey',
  z
    .strictObject({
      name: visibleText(MAX_KEY_NAME).optional(),
      expires_at: z.iso
        .datetime({ offset: true })
        .optional()
        .describe(
          'Must be in the future, and not later than the current expiry. To get a key that lasts longer, mint another one.',
        ),
    })
    .refine((changes) => Object.values(changes).some((value) => value !== undefined), {
      error: 'must have at least one field to change',
      params: { code: 'required' },
    }),
  { name: 'billing server' },
)

/**
 * Renames a key, or lets it expire earlier. Its scopes stay as they were minted.
 *
 * @throws {Fault} `not_found`, `validation_failed`
 */
export async function changeKey(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  key: { project_id: string; id: string },
  { name, expires_at: text }: z.infer<typeof UpdateKeyBody>,
  change: Change,
): Promise<KeyRow> {
  const expires_at = text === undefined ? undefined : Date.parse(text)
  if (expires_at !== undefined && expires_at <= now) {
    throw invalidField('/expires_at', 'out_of_range', 'must be in the future; to end the key now, revoke it')
  }
  const row = await updateKey(db, key, { name, expires_at }, change)
  if (expires_at === undefined || row.expires_at === expires_at) return row
  const end = row.expires_at === null ? 'never' : iso(row.expires_at)
  throw invalidField('/expires_at', 'out_of_range', `must not be later than the key expires now: ${end}`)
}

/**
 * Changes a live key. The same values again change nothing, and neither does an expiry that is later than the current
 * one, whatever else changes with it.
 *
 * @returns the key as it is then
 * @throws {Fault} `not_found`
 */
export async function updateKey(
  db: Db,
  { project_id, id }: { project_id: string; id: string },
  { name, expires_at }: { name: string | undefined; expires_at: number | undefined },
  change: Change,
): Promise<KeyRow> {
  const endsIf = (compare: typeof gt) =>
    expires_at === undefined ? undefined : or(isNull(apiKeys.expires_at), compare(apiKeys.expires_at, expires_at))
  const differs = or(name === undefined ? undefined : ne(apiKeys.name, name), endsIf(gt))
  const changed = db
    .update(apiKeys)
    .set({ name, expires_at })
    .where(and(keysOfProject(project_id, id), isNull(apiKeys.revoked_at), endsIf(gte), differs))
  const details = { name, expires_at: expires_at === undefined ? undefined : iso(expires_at) }
  const { rows } = await batch(db, {
    ...audited(db, change, keyEntry(project_id, id, 'api_key.updated', details), changed),
    rows: findKey(db, { project_id, id }),
  })
  return requireFound(rows, 'API key')
}
