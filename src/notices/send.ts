import { and, asc, countDistinct, desc, eq, gte, inArray, isNotNull, lt, lte, ne, or, type SQL, sql } from 'drizzle-orm'
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
  PREPARED_WITHIN,
  PROJECTS_A_RUN,
} from './limits'
import { type About, type NoticeRow, noticeMail } from './mails'
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
 * Those whom it did not reach are tried again later, and given up after some attempts.
 *
 * @param rt in the store of the project
 * @throws the error of an email that could not be prepared, after the others were sent: it is tried again later, and that was no attempt
 */
export async function sendDueMails(rt: Runtime, projectId: string): Promise<void> {
  const { db, now } = rt
  const { project, sent } = await mailsOf(db, projectId, now)
  if (!project || project.deleted_at !== null || sent >= MAILS_OF_PROJECT) return defer(db, projectId, now)
  const claimed = await claim(db, projectId, now)
  if (claimed.length === 0) return
  const about = { id: projectId, name: project.name, origin: rt.settings.publicOrigin }
  const { whole, broken, failure } = sorted(claimed, about)
  if (broken.length > 0) await unprepared(db, broken, now)
  if (whole.length > 0) await mailAll(rt, about, whole)
  if (broken.length > 0) throw failure
}

/** Tells the notices whose email can be made from those whose email cannot, before it counts as one of the day for anybody. */
function sorted(rows: readonly NoticeRow[], about: About) {
  const whole: NoticeRow[] = []
  const broken: NoticeRow[] = []
  let failure: unknown
  for (const row of rows) {
    try {
      noticeMail('', about, [row], false)
      whole.push(row)
    } catch (error) {
      broken.push(row)
      failure = error
    }
  }
  return { whole, broken, failure }
}

/** Sends one email about these notices to each reader. */
async function mailAll(rt: Runtime, about: About, claimed: readonly NoticeRow[]): Promise<void> {
  const { db, now } = rt
  const projectId = about.id
  const readers = await readersOf(rt.directory, projectId, claimed, now).catch(async (error) => {
    await unprepared(db, claimed, now)
    throw error
  })
  const how = rt.settings.signInDelivery === 'log' ? 'log' : 'email'
  const results = await pooled(MAILS_AT_ONCE, readers, async ({ id, email, own, sent }) => {
    try {
      await deliver(rt, noticeMail(email, about, own, sent >= NOTICE_MAILS_TO_ADDRESS), how)
      return null
    } catch (error) {
      writeLog('error', 'notice_not_sent', { user_id: id, project_id: projectId, error: String(error) })
      return id
    }
  })
  const missed = new Set(results.filter((id) => id !== null))
  await done(db, claimed, { readers, missed, now })
}

const isExposure = ({ kind }: NoticeRow) => kind === 'key_exposed'

const isDue = (projectId: string, now: number) =>
  and(eq(notices.project_id, projectId), isNotNull(notices.mail_due_at), lte(notices.mail_due_at, now))

/** Reads the project, and how many emails it has had today. */
async function mailsOf(db: Db, projectId: string, now: number) {
  const today = and(eq(notices.project_id, projectId), gte(notices.mailed_at, dayOf(now) * DAY))
  const { project, mails } = await batch(db, {
    project: db
      .select({ name: projects.name, deleted_at: projects.deleted_at })
      .from(projects)
      .where(eq(projects.id, projectId)),
    mails: db
      .select({ n: countDistinct(notices.mailed_at) })
      .from(notices)
      .where(today),
  })
  return { project: project[0], sent: mails[0]?.n ?? 0 }
}

/** Beyond the emails of the day, and of a deleted project, what is due waits for the next day. That is no attempt. */
async function defer(db: Db, projectId: string, now: number): Promise<void> {
  const mail_due_at = (dayOf(now) + 1) * DAY
  await run(db, db.update(notices).set({ mail_due_at }).where(isDue(projectId, now)))
}

/** Takes the notices that are due: nobody else sends them until the next attempt is due. */
async function claim(db: Db, projectId: string, now: number): Promise<NoticeRow[]> {
  const wait = sql`coalesce(${JSON.stringify(MAIL_WAITS)} ->> ${notices.tries}, ${DAY})`
  const set = { tries: sql`${notices.tries} + 1`, mail_due_at: sql`${now} + ${wait}` }
  const claimed = await run(db, db.update(notices).set(set).where(isDue(projectId, now)).returning())
  return claimed.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Takes back the claim of notices whose email could not be prepared. They wait for as long as they have been open. */
async function unprepared(db: Db, rows: readonly NoticeRow[], now: number): Promise<void> {
  const over = now - PREPARED_WITHIN
  const given = rows.filter(({ opened_at }) => opened_at <= over).length
  if (given > 0) writeLog('error', 'notice_given_up', { project_id: rows[0]?.project_id, notices: given, at: now })
  const wait = sql`max(${MAIL_WAITS[0]}, min(${MAIL_WAITS.at(-1)}, ${now} - ${notices.opened_at}))`
  const set = {
    tries: sql`${notices.tries} - 1`,
    mail_due_at: sql`iif(${notices.opened_at} <= ${over}, NULL, ${now} + ${wait})`,
  }
  await run(
    db,
    db
      .update(notices)
      .set(set)
      .where(and(theseOf(rows), isNotNull(notices.mail_due_at))),
  )
}

type Reader = { id: string; email: string; own: NoticeRow[]; sent: number }

/**
 * Counts an email to each reader who may get one more today, with the notices in it: those that the reader wants, and has not had.
 * `sent`: with this one.
 */
async function readersOf(
  directory: Directory,
  projectId: string,
  claimed: readonly NoticeRow[],
  now: number,
): Promise<Reader[]> {
  const day = dayOf(now)
  const today = eq(users.project_mails_day, day)
  const some = directory
    .select({ id: members.user_id, role: members.role, mail: members.mail })
    .from(members)
    .where(
      and(
        eq(members.project_id, projectId),
        inArray(members.role, ['owner', 'admin']),
        claimed.some(isExposure) ? or(ne(members.mail, 'none'), eq(members.role, 'owner')) : eq(members.mail, 'all'),
      ),
    )
    .orderBy(desc(rankIn(members.role)), asc(members.user_id))
    .limit(MAX_READERS)
  const of = (one: { id: string; role: string; mail: string }) => claimed.filter((row) => isFor(row, one))
  const own = new Map((await run(directory, some)).map((one) => [one.id, of(one)]))
  const ids = [...own].filter(([, rows]) => rows.length > 0).map(([id]) => id)
  if (ids.length === 0) return []
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
          inArray(users.id, valuesOf(ids)),
          ne(users.email, users.id),
          or(ne(users.project_mails_day, day), lt(users.project_mails_sent, NOTICE_MAILS_TO_ADDRESS)),
        ) as SQL,
      )
      .returning({ id: users.id, email: users.email, sent: users.project_mails_sent }),
  )
  return counted.map((user) => ({ ...user, own: own.get(user.id) ?? [] }))
}

/** Whether a notice goes to a member: by what the member has chosen, and whether an earlier attempt has reached them. */
function isFor(row: NoticeRow, { id, role, mail }: { id: string; role: string; mail: string }): boolean {
  const isWanted = mail === 'all' || (isExposure(row) && (mail === 'security' || role === 'owner'))
  return isWanted && (row.mail_left?.includes(id) ?? true)
}

type Outcome = { readers: readonly Reader[]; missed: ReadonlySet<string>; now: number }

/**
 * Notes of each notice whom it reached. If it did not reach all, the next attempt stays due, for the others, unless it was the last.
 * What has been opened again meanwhile has another id.
 */
async function done(db: Db, rows: readonly NoticeRow[], { readers, missed, now }: Outcome): Promise<void> {
  const outcomes = rows.map((row) => {
    const due = readers.filter(({ own }) => own.includes(row))
    const left = due.filter(({ id }) => missed.has(id)).map(({ id }) => id)
    return {
      id: row.id,
      left: left.length === 0 ? null : left,
      over: left.length === 0 || row.tries > MAIL_WAITS.length,
    }
  })
  const spent = outcomes.filter(({ left, over }) => left !== null && over).length
  if (spent > 0) {
    writeLog('error', 'notice_given_up', { project_id: rows[0]?.project_id, notices: spent, at: now })
  }
  const isSent = readers.length === 0 || missed.size < readers.length
  const list = sql`json_each(${JSON.stringify(outcomes)})`
  const outcome = (what: string) => sql`(SELECT value ->> ${what} FROM ${list} WHERE value ->> 'id' = ${notices.id})`
  const set = {
    ...(isSent && { mailed_at: now }),
    mail_left: outcome('left'),
    mail_due_at: sql`iif(${outcome('over')}, NULL, ${notices.mail_due_at})`,
  }
  await run(db, db.update(notices).set(set).where(theseOf(rows)))
}

function theseOf(rows: readonly NoticeRow[]) {
  return and(eq(notices.project_id, rows[0]?.project_id ?? ''), inArray(notices.id, valuesOf(rows.map(({ id }) => id))))
}
