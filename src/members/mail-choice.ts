import { and, ne } from 'drizzle-orm'
import { audited, type Change } from '../audit/store'
import { batch, type Directory } from '../db/client'
import type { Actor } from '../http/actor'
import { Fault, requireFound } from '../lib/fault'
import type { MAIL_CHOICES } from '../tenancy/schema'
import { members } from '../tenancy/schema'
import { memberEntry, ofMember } from './change-role'
import { findMember, type Member } from './read'

export type MailChoice = (typeof MAIL_CHOICES)[number]

/**
 * Chooses which emails about a project a member gets: for the member alone.
 *
 * @throws {Fault} `console_session_required` for anybody else, `not_found`
 */
export async function chooseMail(
  directory: Directory,
  actor: Actor,
  { project_id, user_id, mail }: { project_id: string; user_id: string; mail: MailChoice },
  change: Change,
): Promise<Member> {
  if (actor.type !== 'session' || actor.user_id !== user_id) {
    throw new Fault('console_session_required', 'Only the member can change `mail`, with a console session.')
  }
  const chosen = directory
    .update(members)
    .set({ mail })
    .where(and(ofMember(project_id, user_id), ne(members.mail, mail)))
  const entry = { project_id, ...memberEntry('member.mail_chosen', user_id), details: { mail } }
  const { rows } = await batch(directory, {
    ...audited(directory, change, entry, chosen),
    rows: findMember(directory, project_id, user_id),
  })
  return requireFound(rows, 'Member')
}
