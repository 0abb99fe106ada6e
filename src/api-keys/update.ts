import * as z from 'zod'
import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import { named, visibleText } from '../http/fields'
import { invalidField } from '../http/validate'
import { iso } from '../lib/time'
import { MAX_NAME } from './limits'
import type { KeyRow } from './store'
import { updateKey } from './update-store'

export const UpdateBody = named(
  'UpdateApiKey',
  z
    .strictObject({
      name: visibleText(MAX_NAME).optional(),
      expires_at: z.iso
        .datetime({ offset: true })
        .optional()
        .describe(
          'Must be in the future, and not later than the current expiry. To get a key that lasts longer, mint another one.',
        ),
    })
    .refine((changes) => Object.keys(changes).length > 0, {
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
  { name, expires_at: text }: z.infer<typeof UpdateBody>,
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
