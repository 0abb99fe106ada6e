import { type Column, type SQL, sql } from 'drizzle-orm'
import type { Db, Query } from '../db/client'
import { insertFrom } from '../db/insert-from'
import { bare, excluded } from '../db/sql'
import { ID_TIME, idFloor } from '../lib/ids'
import { saysExposed, withEarlier } from './exposed'
import { MAILED_AGAIN_AFTER, MAX_FACT, MAX_OPEN_NOTICES } from './limits'
import { type NoticeFacts, notices } from './schema'

/** A notice to open, as expressions over the rows of a statement. `facts`: a JSON object. */
type Opening = {
  project_id: Column | SQL
  kind: Column | SQL
  object_id: Column | SQL
  facts: SQL
  /** By default, one that the statement makes up. */
  id?: SQL
}

/**
 * Opens notices, one for each row that `from` yields, unless they are open already. Each is mailed, unless that was done and it was
 * closed less than a day ago. A secret that is exposed while the notice of its object is open makes it a new one. It belongs into the
 * batch that sees the matter.
 *
 * @param from FROM and WHERE
 */
export function noticesOpened(db: Db, { id, ...opening }: Opening, from: SQL, now: number): Query<void> {
  const at = sql`CAST(${now} AS INTEGER)`
  const row = {
    ...opening,
    id: id ?? newNoticeId(now),
    opened_at: at,
    mail_due_at: at,
  }
  const { project_id, kind, object_id, facts, opened_at, closed_at, mail_due_at, mailed_at, tries, mail_left } = notices
  // A secret that is exposed after it was replaced is another one.
  const isMailed = sql`${mailed_at} IS NOT NULL AND ${closed_at} > ${now - MAILED_AGAIN_AFTER} AND ${kind} <> 'key_exposed'`
  return insertFrom(
    db,
    notices,
    row,
    sql`${from} AND ${hasRoomFor(opening)}
      ON CONFLICT (${bare(project_id, kind, object_id)}) DO UPDATE SET
        ${bare(notices.id)} = ${excluded(notices.id)}, ${bare(facts)} = iif(${closed_at} IS NULL, ${withEarlier()}, ${excluded(facts)}), ${bare(tries)} = 0, ${bare(mail_left)} = NULL,
        ${bare(opened_at)} = ${excluded(opened_at)}, ${bare(closed_at)} = NULL,
        ${bare(mail_due_at)} = iif(${isMailed}, NULL, ${excluded(mail_due_at)})
      WHERE ${closed_at} IS NOT NULL OR (${kind} = 'key_exposed' AND NOT ${saysExposed(excluded(facts))})`,
  )
}

type Matter = Pick<Opening, 'project_id' | 'kind' | 'object_id'>

/** Whether a notice may be opened: the project has few, or it is open and can only become another one. */
export function hasRoomFor(matter: Matter): SQL {
  const open = sql`SELECT 1 FROM ${notices} INDEXED BY notices_open WHERE ${notices.project_id} = ${matter.project_id}
    AND ${notices.closed_at} IS NULL LIMIT ${MAX_OPEN_NOTICES}`
  return sql`((SELECT count(*) FROM (${open})) < ${MAX_OPEN_NOTICES} OR ${isNoticeOpen(matter)})`
}

/** Whether there is an open notice of a matter. @param also what it must say */
export function isNoticeOpen({ project_id, kind, object_id }: Matter, also: SQL = sql`true`): SQL {
  return sql`EXISTS (SELECT 1 FROM ${notices} WHERE ${notices.project_id} = ${project_id} AND ${notices.kind} = ${kind}
    AND ${notices.object_id} = ${object_id} AND ${notices.closed_at} IS NULL AND ${also})`
}

/** An id with the time and random digits, of which all are digits of ids. */
function newNoticeId(now: number): SQL {
  const time = idFloor('ntc', now).slice(0, ID_TIME.from - 1 + ID_TIME.chars)
  return sql`${time} || lower(hex(randomblob(8)))`
}

/** A fact that comes from outside: on one line, and not too long. */
export function factFrom(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
    .slice(0, MAX_FACT)
}

/** Facts as JSON, as a parameter. */
export function factsSql(facts: NoticeFacts): SQL {
  return sql`${JSON.stringify(facts)}`
}
