import { iso } from '../lib/time'
import { isPlainName, type Mail } from '../mail/mail'
import { MAX_IN_MAIL } from './limits'
import type { notices } from './schema'
import { noticeWords } from './words'

export type NoticeRow = typeof notices.$inferSelect

/** The project that an email is about. `origin`: what links begin with; null if it is not known. */
export type About = { id: string; name: string; origin: string | null }

/**
 * Facts that we write ourselves, even if a program could take one for an address. An email shows any other fact only if no program could.
 */
const OURS = [
  'key_prefix',
  'token_prefix',
  'earlier',
  'expires_at',
  'last_used_at',
  'since',
  'failing_since',
  'fields',
  'url',
]
/** Where GitHub finds secrets: the only addresses from outside that an email shows, besides those of the project's own endpoints. */
const FOUND = /^https:\/\/(gist\.)?github\.com\/[\w./-]+$/

/**
 * The email about notices of a project: one, or all that are due.
 *
 * @param isLast whether it is the last of the day to this address
 */
export function noticeMail(to: string, about: About, all: readonly NoticeRow[], isLast: boolean): Mail {
  const where = isPlainName(about.name) ? `the project “${about.name}”` : 'one of your projects'
  const shown = all.slice(0, MAX_IN_MAIL)
  const [first] = shown
  const subject = all.length === 1 && first ? noticeWords(first).title : `${all.length} notices about your project`
  const parts = shown.map((one) => partOf(one, about)).join('\n\n')
  const more = all.length > shown.length ? `\n\nAnd ${all.length - shown.length} more.` : ''
  const page =
    about.origin === null ? 'the “Notices” page of the console' : `${about.origin}${pathOf(about)}/platform/notices`
  const last = isLast ? '\n\nThis is the last of these emails today. Later notices are only on that page.' : ''
  return {
    to,
    subject,
    text: `This is about ${where}.\n\n${parts}${more}\n\nSee all notices, and choose which of these emails you get: ${page}${last}\n`,
    printed: `Notice for ${to}: ${subject}, ${where}`,
  }
}

function partOf(row: NoticeRow, about: About): string {
  const { title, says, page } = noticeWords({ ...row, facts: safe(row.facts) })
  const link = about.origin === null ? '' : `\n${about.origin}${pathOf(about)}/${page}`
  return `${title} (${iso(row.opened_at).slice(0, 16).replace('T', ' ')} UTC)\n${says}${link}`
}

function safe(facts: NoticeRow['facts']): NoticeRow['facts'] {
  const hidden = Object.fromEntries(
    Object.entries(facts).flatMap(([name, value]) =>
      OURS.includes(name) || isPlainName(String(value ?? '')) ? [] : [[name, name === 'name' ? '' : null]],
    ),
  )
  const isLink = facts.object === undefined || FOUND.test(String(facts.url ?? ''))
  return { ...facts, ...hidden, ...(!isLink && { url: null }) }
}

const pathOf = ({ id }: About) => `/console/p/${id}`
