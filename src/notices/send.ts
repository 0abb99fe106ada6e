import { and, asc, desc, eq, inArray, isNotNull, lt, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import { users } from '../accounts/schema'
import { batch, type Db, type Directory, raw, run } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { pooled } from '../lib/pooled'
import { DAY } from '../lib/time'
import { deliver } from '../mail/deliver'
import { rankIn } from '../tenancy/people'
import { members, projects } from '../tenancy/schema'
import {
  DUE_LOOKED_AT,
  MAIL_WAITS,
  MAILS_AT_ONCE,
  MAILS_OF_PROJECT,
  MAX_READERS,
  NOTICE_MAILS_TO_ADDRESS,
  PROJECTS_A_RUN,
} from './limits'
import { type NoticeRow, noticeMail } from './mails'
import { notices } from './schema'

const dayOf = (now: number) => Math.floor(now / DAY)

/** Reads projects of the store that have emails due, those that have waited longest first. */
export function findDueMails(db: Db, now: number) {
  const due = sql`SELECT ${notices.project_id} AS project_id, ${notices.mail_due_at} AS at
    FROM ${notices} INDEXED BY notices_due WHERE ${isNotNull(notices.mail_due_at)} AND ${lte(notices.mail_due_at, now)}
    ORDER BY ${notices.mail_due_at} LIMIT ${DUE_LOOKED_AT}`
  return raw(
    db,
    { project_id: sql<string>`project_id` },
    (fields) => sql`SELECT ${fields} FROM (${due}) GROUP BY 1 ORDER BY min(at) LIMIT ${PROJECTS_A_RUN}`,
  )
}

/**
 * Sends the email of a project about the notices that are due: one email to each reader, or none if the project has had those of the day.
 * An email that nobody could be sent is tried again later, and given up after some attempts.
 *
 * @param rt in the store of the project
 */
export async function sendDueMails(rt: Runtime, projectId: string): Promise<void> {
  const { db, now } = rt
  const { project, sent, claimed } = await claim(db, projectId, now)
  if (!project || project.deleted_at !== null || claimed.length === 0) return
  if (sent >= MAILS_OF_PROJECT) return
  const about = { id: projectId, name: project.name, origin: rt.settings.publicOrigin }
  const readers = await readersOf(rt.directory, projectId, { now, exposed: claimed.some(isExposure) })
  const how = rt.settings.signInDelivery === 'log' ? 'log' : 'email'
  const results = await pooled(MAILS_AT_ONCE, readers, async ({ id, email, role, mail, sent }) => {
    const own = claimed.filter(
      (row) => mail === 'all' || (isExposure(row) && (mail === 'security' || role === 'owner')),
    )
    if (own.length === 0) return true
    try {
      await deliver(rt, noticeMail(email, about, own, sent >= NOTICE_MAILS_TO_ADDRESS), how)
      return true
    } catch (error) {
      writeLog('error', 'notice_not_sent', { user_id: id, project_id: projectId, error: String(error) })
      return false
    }
  })
  // One that arrived is enough: another attempt would send it twice.
  if (results.length > 0 && !results.includes(true)) return giveUp(db, claimed, now)
  await done(db, claimed, now)
}

const isExposure = ({ kind }: NoticeRow) => kind === 'key_exposed'

/**
 * Takes the notices that are due: nobody else sends them until the next attempt is due. Beyond the emails of the day, and of a deleted project,
 * they wait for the next day.
 */
async function claim(db: Db, projectId: string, now: number) {
  const dayBegins = dayOf(now) * DAY
  const of = eq(notices.project_id, projectId)
  const mailed = sql<number>`count(DISTINCT ${notices.mailed_at})`
  const { project, before, claimed } = await batch(db, {
    project: db
      .select({ name: projects.name, deleted_at: projects.deleted_at })
      .from(projects)
      .where(eq(projects.id, projectId)),
    before: db
      .select({ n: mailed.as('n') })
      .from(notices)
      .where(and(of, sql`${notices.mailed_at} >= ${dayBegins}`)),
    claimed: db
      .update(notices)
      .set({
        tries: sql`${notices.tries} + 1`,
        mail_due_at: sql`CASE WHEN (SELECT count(DISTINCT m.mailed_at) FROM ${notices} m WHERE m.project_id = ${projectId}
            AND m.mailed_at >= ${dayBegins}) >= ${MAILS_OF_PROJECT} THEN ${dayBegins + DAY}
          ELSE ${now} + coalesce(${JSON.stringify(MAIL_WAITS)} ->> ${notices.tries}, ${DAY}) END`,
      })
      .where(and(of, isNotNull(notices.mail_due_at), lte(notices.mail_due_at, now)))
      .returning(),
  })
  return { project: project[0], sent: before[0]?.n ?? 0, claimed: claimed.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** Counts an email to each reader who may get one more today. `sent`: with this one. */
async function readersOf(directory: Directory, projectId: string, of: { now: number; exposed: boolean }) {
  const day = dayOf(of.now)
  const today = eq(users.project_mails_day, day)
  const exposed = or(ne(members.mail, 'none'), eq(members.role, 'owner'))
  const wants = and(
    eq(members.project_id, projectId),
    inArray(members.role, ['owner', 'admin']),
    of.exposed ? exposed : eq(members.mail, 'all'),
  )
  const some = directory
    .select({ user_id: members.user_id, role: members.role, mail: members.mail })
    .from(members)
    .where(wants)
    .orderBy(desc(rankIn(members.role)), asc(members.user_id))
    .limit(MAX_READERS)
  const readers = await run(directory, some)
  if (readers.length === 0) return []
  const counted = await run(
    directory,
    directory
      .update(users)
      .set({
        project_mails_day: day,
        project_mails_sent: sql`CASE WHEN ${today} THEN ${users.project_mails_sent} + 1 ELSE 1 END`,
      })
      .where(
        and(
          inArray(users.id, valuesOf(readers.map(({ user_id }) => user_id))),
          ne(users.email, users.id),
          or(ne(users.project_mails_day, day), lt(users.project_mails_sent, NOTICE_MAILS_TO_ADDRESS)),
        ) as SQL,
      )
      .returning({ id: users.id, email: users.email, sent: users.project_mails_sent }),
  )
  const byId = new Map(readers.map((reader) => [reader.user_id, reader]))
  return counted.flatMap((user) => {
    const reader = byId.get(user.id)
    return reader ? [{ ...user, ...reader }] : []
  })
}

/** Notes that the email was sent. What has been opened again meanwhile has another id. */
async function done(db: Db, rows: readonly NoticeRow[], now: number): Promise<void> {
  await run(db, db.update(notices).set({ mailed_at: now, mail_due_at: null }).where(theseOf(rows)))
}

/** After the last attempt, no other one is due. */
async function giveUp(db: Db, rows: readonly NoticeRow[], now: number): Promise<void> {
  const spent = rows.filter(({ tries }) => tries > MAIL_WAITS.length)
  if (spent.length === 0) return
  writeLog('error', 'notice_given_up', { project_id: spent[0]?.project_id, notices: spent.length, at: now })
  await run(db, db.update(notices).set({ mail_due_at: null }).where(theseOf(spent)))
}

function theseOf(rows: readonly NoticeRow[]) {
  return and(eq(notices.project_id, rows[0]?.project_id ?? ''), inArray(notices.id, valuesOf(rows.map(({ id }) => id))))
}
