import type { Context } from 'hono'
import type { AuditRow as Row } from '../../../audit/read-store'
import type { HttpEnv } from '../../../http/context'
import type { Page } from '../../../http/page'
import { idTime } from '../../../lib/ids'
import { pathsOf } from '../../page'
import { FilterActions, FilterField } from '../../ui/filters'
import { words } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import type { Asked } from './query'

/** An entry with the address of its actor, if that is a user. */
type AuditRow = Row & { actor_email: string | null }

/** The audit log, with a form to filter it. `page` is null if the filters are invalid. */
export function listPage(c: Context<HttpEnv>, asked: Asked, page: (Page<AuditRow> & { truncated: boolean }) | null) {
  return show(
    c,
    { title: 'Audit log', section: 'audit', status: page === null ? 422 : 200 },
    <>
      <Head title="Audit log" />
      <Filters asked={asked} action={pathsOf(c).audit} />
      {page && (
        <>
          {page.data.length > 0 ? (
            <Table label="Audit log" rows={page.data} columns={columnsOf(c)} />
          ) : (
            <p class="quiet">No entry {page.truncated ? 'here. Older ones are on the next page.' : 'matches.'}</p>
          )}
          <Pager c={c} cursor={page.next_cursor} />
        </>
      )}
    </>,
  )
}

function columnsOf(c: Context<HttpEnv>): Column<AuditRow>[] {
  const { now } = c.get('rt')
  const about = (name: 'actor_id' | 'object_id', id: string) => (
    <a href={`${pathsOf(c).audit}?${name}=${encodeURIComponent(id)}`}>
      <code>{id}</code>
    </a>
  )
  return [
    ['When', (row) => <Time at={idTime(row.id)} now={now} />],
    [
      'Who',
      (row) => (
        <>
          {nameOf(row)} {about('actor_id', row.actor_id)}
        </>
      ),
    ],
    ['Change', (row) => <code>{row.action}</code>],
    ['Object', (row) => about('object_id', row.object_id)],
    ['Details', (row) => (row.details === null ? '–' : words(row.details))],
    ['Request', (row) => <code>{row.client_request_id ?? row.request_id}</code>],
  ]
}

/** What the actor is called: a user's email address, an API key's name. */
function nameOf(row: AuditRow): string {
  if (row.actor_type === 'system') return 'The service'
  if (row.actor_type === 'user') return row.actor_email ?? 'Unknown user'
  return `API key “${row.actor_name ?? 'unknown'}”`
}

function Filters({ asked, action }: { asked: Asked; action: string }) {
  const field = (name: string, label: string, type?: 'datetime-local') => (
    <FilterField of={asked} name={name} label={label} {...(type && { type })} />
  )
  return (
    <search>
      <form class="search" method="get" action={action}>
        <div class="filters">
          {field('actor_id', 'Actor ID')}
          {field('action', 'Change, such as api_key.*')}
          {field('object_id', 'Object ID')}
          {field('created_after', 'Since (UTC)', 'datetime-local')}
          {field('created_before', 'Before (UTC)', 'datetime-local')}
          <FilterActions verb="Filter" clear={asked.query.size > 0 ? action : null} />
        </div>
      </form>
    </search>
  )
}
