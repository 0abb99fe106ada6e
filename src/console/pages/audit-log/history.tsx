import type { Child } from 'hono/jsx'
import { idTime } from '../../../lib/ids'
import type { Visit } from '../../page'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { EntryWhat, type NamedEntry, Who } from './entry'

type HistoryProps = {
  c: Visit
  entries: readonly NamedEntry[]
  /** What is shown if there are no entries. */
  none: Child
  /** What the page knows of an entry beyond its details; undefined if nothing. */
  more?: (entry: NamedEntry) => Child | undefined
}

/** The latest audit entries about one object, on its own page. */
export function History({ c, entries, none, more }: HistoryProps) {
  const { now } = c.get('rt')
  const columns: Column<NamedEntry>[] = [
    ['When', (entry) => <Time at={idTime(entry.id)} now={now} />],
    ['Who', (entry) => <Who c={c} row={entry} />],
    ['What', (entry) => <EntryWhat row={entry} instead={more?.(entry)} />],
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
