import { and, eq, gt, isNotNull, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { batch, type Db } from '../db/client'
import { DAY } from '../lib/time'
import { namesSecret } from '../notices/exposed'
import { EXPIRING_DAYS, USED_WITHIN_DAYS } from '../notices/limits'
import { noticesOpened } from '../notices/open'
import { notices } from '../notices/schema'
import { projects } from '../tenancy/schema'
import { USED_AT } from './key'
import { apiKeys } from './schema'

/** Expiring keys that one run of the cron looks at in a store. */
const MOST = 1000

/** Opens a notice for each key in use that expires within a week, and mails it again within a day of the end. */
export async function tellExpiring(db: Db, now: number): Promise<void> {
  const [week, day] = EXPIRING_DAYS
  const isoOf = (at: SQL) => sql`strftime('%Y-%m-%dT%H:%M:%SZ', ${at} / 1000, 'unixepoch')`
  const left = sql`iif(k.expires_at <= ${now + day * DAY}, ${day}, ${week})`
  const facts = sql`json_object('name', k.name, 'key_prefix', k.key_prefix, 'expires_at', ${isoOf(sql`k.expires_at`)},
    'last_used_at', ${isoOf(sql`k.used_at`)}, 'country', k.country, 'user_agent', k.user_agent, 'days', ${left})`
  const soon = sql`SELECT ${apiKeys.id} AS id, ${apiKeys.project_id} AS project_id, ${apiKeys.name} AS name,
      ${apiKeys.key_prefix} AS key_prefix, ${apiKeys.expires_at} AS expires_at, ${USED_AT} AS used_at,
      ${apiKeys.last_use} ->> '$.country' AS country, ${apiKeys.last_use} ->> '$.user_agent' AS user_agent
    FROM ${apiKeys} INDEXED BY api_keys_expiring CROSS JOIN ${projects} ON ${eq(projects.id, apiKeys.project_id)}
      AND ${isNull(projects.deleted_at)}
    WHERE ${and(isNotNull(apiKeys.expires_at), isNull(apiKeys.revoked_at), gt(apiKeys.expires_at, now), lte(apiKeys.expires_at, now + week * DAY))}
      AND ${USED_AT} > ${now - USED_WITHIN_DAYS * DAY} ORDER BY ${apiKeys.expires_at} LIMIT ${MOST}`
  const opening = { project_id: sql`k.project_id`, kind: sql`'key_expiring'`, object_id: sql`k.id`, facts }
  await batch(
    db,
    {
      opened: noticesOpened(db, opening, sql`FROM (${soon}) k WHERE true`, now),
      // Those that were opened a week before: the last day is told too.
      again: db
        .update(notices)
        .set({ facts: sql`json_set(${notices.facts}, '$.days', ${day})`, mail_due_at: now, tries: 0, mail_left: null })
        .where(
          and(
            sql`(${notices.project_id}, ${notices.kind}, ${notices.object_id}) IN
              (SELECT k.project_id, 'key_expiring', k.id FROM (${soon}) k WHERE ${left} = ${day})`,
            isNull(notices.closed_at),
            sql`${notices.facts} ->> '$.days' > ${day}`,
          ),
        ),
    },
    { idempotent: true }, // the second time, they are open
  )
}

/** Whether the key of a notice about its expiry has ended. */
export function isExpiringNoMore(now: number): SQL {
  return sql`NOT EXISTS (SELECT 1 FROM ${apiKeys} WHERE ${isOfNotice(now)})`
}

/** Whether the key of a notice about an exposed secret has ended, or has other secrets by now. */
export function isExposedNoMore(now: number): SQL {
  const { key_prefix, pending, previous } = apiKeys
  return sql`NOT EXISTS (SELECT 1 FROM ${apiKeys} WHERE ${isOfNotice(now)} AND (${namesSecret(sql`${key_prefix}`)}
    OR (${pending} ->> '$.expires_at' > ${now} AND ${namesSecret(sql`${pending} ->> '$.key_prefix'`)})
    OR (${previous} ->> '$.valid_until' > ${now} AND ${namesSecret(sql`${previous} ->> '$.key_prefix'`)})))`
}

function isOfNotice(now: number): SQL {
  return sql`${apiKeys.id} = ${notices.object_id} AND ${apiKeys.revoked_at} IS NULL
    AND coalesce(${apiKeys.expires_at}, ${now + 1}) > ${now}`
}
