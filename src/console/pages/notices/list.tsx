import * as z from 'zod'
import type { Page } from '../../../http/page'
import type { MailChoice } from '../../../members/mail-choice'
import type { NoticeRow } from '../../../notices/mails'
import { noticeWords } from '../../../notices/words'
import { MAIL_CHOICES } from '../../../tenancy/schema'
import { choice, form } from '../../form'
import { can, pathsOf, type Visit } from '../../page'
import { type Sent, UNSENT } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

const CHOICES: Record<MailChoice, string> = {
  all: 'All',
  security: 'Only exposed secrets',
  none: 'None',
}

/** Which emails about the project the user gets. */
export const EMAILS = form(z.object({ mail: z.enum(MAIL_CHOICES) }), {
  mail: choice('Emails about these notices', Object.entries(CHOICES), {
    hint: 'Owners always get emails about exposed secrets.',
  }),
})

/** The notices of the project, the open ones among the others. @param mail what the user has chosen */
export function noticesPage(c: Visit, list: Page<NoticeRow>, mail: MailChoice, sent: Sent = UNSENT) {
  const { notices, start } = pathsOf(c)
  const of = { ...sent, entered: sent.entered ?? EMAILS.opened({ mail }) }
  return show(
    c,
    { title: 'Notices', section: 'notices', status: sent.status },
    <>
      <Head title="Notices" />
      <p class="quiet">
        Notices are about problems that your team also gets emails about, such as exposed keys, and connections that
        refuse every delivery. A notice closes within an hour of its cause being resolved. Everything that needs
        attention now, with or without a notice, is on the <a href={start}>Overview</a>.
      </p>
      {list.data.length > 0 ? (
        <Table label="Notices" rows={list.data} columns={columnsOf(c)} class="audit" />
      ) : (
        <p class="quiet">There are no notices.</p>
      )}
      <Pager c={c} cursor={list.next_cursor} />
      {can(c, 'members:write') && (
        <Post c={c} to={`${notices}/emails`} class="form">
          <Wrong>{sent.mistakes.form}</Wrong>
          {EMAILS.field('mail', of)}
          <button type="submit">Save</button>
        </Post>
      )}
    </>,
  )
}

function columnsOf(c: Visit): Column<NoticeRow>[] {
  const { now } = c.get('rt')
  const { start } = pathsOf(c)
  return [
    [
      'Notice',
      (row) => {
        const { title, says, page } = noticeWords(row)
        return (
          <>
            <a href={`${start}/${page}`}>{title}</a>
            <span class="line quiet">{says}</span>
          </>
        )
      },
    ],
    ['Opened', ({ opened_at }) => <Time at={opened_at} now={now} />],
    [
      'State',
      ({ closed_at }) =>
        closed_at === null ? <span class="badge warn">open</span> : <span class="badge">closed</span>,
    ],
  ]
}
