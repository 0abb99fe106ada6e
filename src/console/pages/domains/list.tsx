import { run } from '../../../db/client'
import { type Domain, listDomains } from '../../../domains/domain'
import { AddBody } from '../../../domains/fields'
import { MAX_DOMAINS } from '../../../domains/limits'
import { PURPOSES, type Purpose } from '../../../domains/schema'
import { projectOf } from '../../../http/auth'
import { toUnicode } from '../../../lib/punycode'
import { choice, form, text } from '../../form'
import { can, pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { PURPOSE_WORDS } from './domain'

export const DOMAIN = form(AddBody, {
  hostname: text('Name', {
    required: true,
    maxlength: 300,
    hint: 'The part of your email addresses after the @, such as example.com, or a host, such as auth.example.com.',
  }),
  purpose: choice('Use it for', [], { required: true }),
})

/** The domains of the project, and the form that adds one. */
export async function listPage(c: Visit, sent: Sent) {
  const { mistakes, status } = sent
  const { directory } = c.get('rt')
  const page = { before: null, take: MAX_DOMAINS }
  const rows = await run(directory, listDomains(directory, projectOf(c.get('actor')), page))
  return show(
    c,
    { title: 'Domains', section: 'domains', status },
    <>
      <Head title="Domains" />
      <p class="quiet">Verify that you own a DNS name, for single sign-on or as a host for pages of this project.</p>
      {rows.length > 0 ? (
        <Table label="Domains" rows={rows} columns={columnsOf(c)} class="keys" />
      ) : (
        <p class="empty">No domains yet.</p>
      )}
      {can(c, 'domains:write') && (
        <>
          <h2>Add a domain</h2>
          <Post c={c} to={pathsOf(c).domains} class="form once">
            <Wrong>{mistakes.form}</Wrong>
            {DOMAIN.field('hostname', sent)}
            {DOMAIN.field('purpose', sent, { options: offered(c) })}
            <button type="submit" class="primary">
              Add domain
            </button>
          </Post>
        </>
      )}
    </>,
  )
}

function offered(c: Visit): [Purpose, string][] {
  const purposes = PURPOSES.filter((purpose) => purpose !== 'sso' || can(c, 'sso:write'))
  return purposes.map((purpose) => [purpose, PURPOSE_WORDS[purpose]])
}

function columnsOf(c: Visit): Column<Domain>[] {
  const { now } = c.get('rt')
  return [
    [
      'Name',
      ({ id, hostname }) => (
        <a class="name" href={`${pathsOf(c).domains}/${id}`}>
          {toUnicode(hostname)}
        </a>
      ),
    ],
    ['Use', ({ purpose }) => PURPOSE_WORDS[purpose]],
    ['State', ({ state }) => <Badge of={state} />],
    ['Last check', ({ checked_at }) => <Time at={checked_at} now={now} />],
    ['Next check', ({ next_check_at }) => <Time at={next_check_at} now={now} none="" />],
  ]
}
