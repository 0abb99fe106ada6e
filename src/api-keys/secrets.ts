import { SQL, sql } from 'drizzle-orm'
import type { Held } from '../db/client'
import { inGrace, stillPending } from '../lib/rotation'
import { apiKeys, type PendingSecret, type PreviousSecret, type retiredSecrets } from './schema'

/* The secrets of a key besides its current one: at most one that waits for its first use, and at most one that it replaced. */

type Others = { pending: PendingSecret | null; previous: PreviousSecret | null }

/** The secret that waits for its first use; null if there is none, or if it was not used in time. */
export function pendingOf({ pending }: Others, now: number): PendingSecret | null {
  return stillPending(pending, now)
}

/** The secret before the current one; null if it does not work any more. */
export function previousOf({ previous }: Others, now: number): PreviousSecret | null {
  return inGrace(previous, now)
}

/** Names the secrets of a key, so that a rotation replaces those that its caller has seen. */
export function secretsSeen({ key_prefix, pending }: { key_prefix: string; pending: PendingSecret | null }): string {
  return pending === null ? key_prefix : `${key_prefix} ${pending.key_prefix}`
}

type Id = string | Held<string>
/** Whom a secret was handed to: a user or an API key, or any of several, as a list of a statement. */
export type HolderId = Id | SQL
type Now = number | Held<number>

/**
 * Whether a secret of a key that works or waits went through the hands of this API key: directly, or from key to key. Or of this
 * user, who rotated the key before it rotated itself.
 */
export function handedThrough(holder: HolderId, now: Now): SQL {
  const among = (json: SQL) => sql`EXISTS (SELECT 1 FROM json_each(${json}) WHERE ${isHolder(sql`value`, holder)})`
  const { pending, previous } = othersAt(now)
  return sql`(${among(sql`${apiKeys.secret_lineage}`)}
    OR ${pending} AND ${among(sql`${apiKeys.pending} -> '$.lineage'`)}
    OR ${previous} AND ${among(sql`${apiKeys.previous} -> '$.lineage'`)})`
}

/** Whether a secret of a key that works or waits, besides its current one, was handed to this user or API key. */
export function handedOther(holder: HolderId, now: Now): SQL {
  const { pending, previous } = othersAt(now)
  return sql`(${pending} AND ${isHolder(sql`${apiKeys.pending} ->> '$.issued_to'`, holder)}
    OR ${previous} AND ${isHolder(sql`${apiKeys.previous} ->> '$.issued_to'`, holder)})`
}

/** Whether an id is that of a holder. */
export function isHolder(id: SQL, holder: HolderId): SQL {
  return holder instanceof SQL ? sql`${id} IN ${holder}` : sql`${id} = ${holder}`
}

/** Whether a key has another secret that waits, or one that still works. */
function othersAt(now: Now) {
  return {
    pending: sql`coalesce(${apiKeys.pending} ->> '$.expires_at', 0) > ${now}`,
    previous: sql`coalesce(${apiKeys.previous} ->> '$.valid_until', 0) > ${now}`,
  }
}

/** A secret that works no more, as a row of `retired_secrets`. */
export function retiredRow(key_id: string, hash: string, now: number): typeof retiredSecrets.$inferInsert {
  return { hash, key_id, retired_at: now }
}
