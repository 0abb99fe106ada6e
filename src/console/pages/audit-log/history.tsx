import type { Child } from 'hono/jsx'
import { idTime } from '../../../lib/ids'
import type { Visit } from '../../page'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { type AuditRow, Who } from './entry'
import { EntryWhat } from './list'

/** The latest audit entries about one object, on its own page. @param none what is shown if there are no entries */
export function History({ c, entries, none }: { c: Visit; entries: AuditRow[]; none: Child }) {
  const { now } = c.get('rt')
  const columns: Column<AuditRow>[] = [
    ['When', (entry) => <Time at={idTime(entry.id)} now={now} />],
    ['Who', (entry) => <Who c={c} row={entry} />],
    ['What', (entry) => <EntryWhat row={entry} />],
  ]
  return (
    <>
      <h2>History</h2>
      {entries.length > 0 ? (
        <Table label="History" rows={entries} columns={columns} class="audit" />
      ) : (
        <p class="quiet">{none}</p>
      )}
    </>
  )
}
