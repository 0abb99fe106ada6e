import { eq, gt, or, type SQL, sql } from 'drizzle-orm'
import type { Directory } from '../db/client'
import { overLimit } from '../http/rate-limit'
import { Fault } from '../lib/fault'
import { DAY, HOUR, SECOND } from '../lib/time'
import { isOpenIn } from '../tenancy/invited'
import { invitations } from '../tenancy/schema'
import { MAIL_EVERY, MAILS_FROM_PROJECT, MAILS_TO_ADDRESS, MAILS_WITHIN, MAX_PENDING, MIN_OPEN_DAYS } from './limits'

/** How long a caller who has reached a daily limit must wait (seconds). The exact time would tell about their other projects. */
const NEXT_TRY_S = HOUR / SECOND

/** @throws {Fault} `rate_limited` if the address or the project has reached its daily limit of emails */
export function requireMails({ to_address, from_project }: MailCounts): void {
  if (to_address >= MAILS_TO_ADDRESS) {
    throw tooManyMails(
      'invitation_address',
      MAILS_TO_ADDRESS,
      'The daily limit of invitation emails from you and this project to this address has been reached.',
    )
  }
  if (from_project >= MAILS_FROM_PROJECT) {
    throw tooManyMails(
      'invitation_project',
      MAILS_FROM_PROJECT,
      'The daily limit of invitation emails from this project has been reached.',
    )
  }
}

function tooManyMails(name: string, requests: number, detail: string): Fault {
  return overLimit({ name, requests, window: MAILS_WITHIN / SECOND }, `${detail} Try again later.`, NEXT_TRY_S)
}

/** For an email that follows another one of the same invitation too soon. */
export function mailTooSoon(): Fault {
  const seconds = MAIL_EVERY / SECOND
  const detail = 'The last email for this invitation was sent less than a minute ago. Wait and try again.'
  return overLimit({ name: 'invitation', requests: 1, window: seconds }, detail, seconds)
}

/** @throws {Fault} `invitation_limit_reached` */
export function requireRoom({ pending }: MailCounts): void {
  if (pending < MAX_PENDING) return
  throw new Fault(
    'invitation_limit_reached',
    `A project can have ${MAX_PENDING} pending invitations. Revoke one first.`,
  )
}

/** What the limits of invitations count, each up to its limit. */
export type MailCounts = { pending: number; to_address: number; from_project: number }

/**
 * Counts as expressions: open invitations of the project; emails of the last day to the mailbox and from the project. Emails
 * that others sent to the mailbox do not count: they could keep a project from inviting it, and a refusal would tell of them.
 *
 * @param from.user_id with whose authority it is sent: one user has no more emails to a mailbox for having many projects
 */
export function mailCounts(
  directory: Directory,
  from: { project_id: string; user_id: string },
  email: string | SQL,
  now: number,
) {
  const ofProject = eq(invitations.project_id, from.project_id)
  const ofSender = or(ofProject, eq(invitations.authorized_by, from.user_id))
  // Each email opens its invitation for a day at least. So one that ended before has had no email that counts.
  const recent = sql`${ofProject} AND ${gt(invitations.expires_at, now - MAILS_WITHIN + MIN_OPEN_DAYS * DAY)}`
  const pending = directory
    .select({ one: sql`1` })
    .from(invitations)
    .where(isOpenIn(from.project_id, now))
    .limit(MAX_PENDING)
  const mails = (condition: SQL, most: number) =>
    sql<number>`(SELECT count(*) FROM (SELECT 1 FROM ${invitations}, json_each(${invitations.recent_sends}) AS mail
      WHERE ${condition} AND mail.value > ${now - MAILS_WITHIN} LIMIT ${most}))`
  return {
    pending: sql<number>`(SELECT count(*) FROM ${pending})`,
    to_address: mails(sql`${ofMailbox(sql`${email}`)} AND ${ofSender}`, MAILS_TO_ADDRESS),
    from_project: mails(recent, MAILS_FROM_PROJECT),
  }
}

/**
 * Invitations to the mailbox of an address, as sign-in codes count it: `a+b@example.com` and `a@example.com` are one. Ranges
 * of the index of addresses find them: in ASCII, a comma follows the plus.
 */
function ofMailbox(email: SQL): SQL {
  const own = sql`substr(${email}, 1, instr(replace(${email}, '@', '+'), '+') - 1)`
  const domain = sql`substr(${email}, instr(${email}, '@'))`
  const { email: other } = invitations
  return sql`(${other} = ${own} || ${domain} OR (${other} > ${own} || '+' AND ${other} < ${own} || ','
    AND substr(${other}, instr(${other}, '@')) = ${domain}))`
}

/** The condition under which one more email may be sent. */
export function mayMail({ to_address, from_project }: ReturnType<typeof mailCounts>): SQL {
  return sql`${to_address} < ${MAILS_TO_ADDRESS} AND ${from_project} < ${MAILS_FROM_PROJECT}`
}

/** Reads the counts that limits are compared with. */
export function selectCounts(directory: Directory, counts: ReturnType<typeof mailCounts>) {
  const { pending, to_address, from_project } = counts
  return directory
    .select({
      pending: pending.as('pending'),
      to_address: to_address.as('to_address'),
      from_project: from_project.as('from_project'),
    })
    .from(sql`(SELECT 1)`)
}
