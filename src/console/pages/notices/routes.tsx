import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import { chooseMail, type MailChoice } from '../../../members/mail-choice'
import { findMember } from '../../../members/read'
import type { NoticeRow } from '../../../notices/mails'
import { kindsFor, listNotices } from '../../../notices/read'
import { action } from '../../action'
import { readList } from '../../list'
import { page, pathsOf, type Visit } from '../../page'
import { userOf } from '../../session'
import { EMAILS, noticesPage } from './list'

type Read = { list: Page<NoticeRow>; mail: MailChoice }

const emails = action({
  posts: '/emails',
  needs: 'members:write',
  read,
  ask: (c, { list, mail }, sent) => noticesPage(c, list, mail, sent),
  run: async (c) => {
    const user = userOf(c)
    const { mail } = EMAILS.body(c.get('form'))
    const member = { project_id: projectOf(user), user_id: user.user_id, mail }
    await chooseMail(c.get('rt').directory, user, member, changeOf(c))
  },
  done: (c) => [pathsOf(c).notices, 'project_emails_saved'],
})

/** What the team of the project is told of. */
export const noticePages = new Hono<HttpEnv>()
  .get('/', page('projects:read'), async (c) => {
    const { list, mail } = await read(c)
    return noticesPage(c, list, mail)
  })
  .route('/', emails)

/** The page of the list that the address asks for, beside what the user has chosen. */
async function read(c: Visit): Promise<Read> {
  const { db, directory } = c.get('rt')
  const user = userOf(c)
  const project = projectOf(user)
  const kinds = kindsFor(user.scopes)
  const [list, [member]] = await Promise.all([
    readList(c, 'notices', (before, take) => run(db, listNotices(db, project, { kinds, before, take }))),
    run(directory, findMember(directory, project, user.user_id)),
  ])
  return { list, mail: member?.mail ?? 'all' }
}
