import type { Child } from 'hono/jsx'
import { idTime } from '../../../lib/ids'
import type { Visit } from '../../page'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { EntryWhat, type NamedEntry, Who } from './entry'

/** Something that happened, at a time (ms). */
export type Happened = { at: number; who: Child; what: Child }

type HistoryProps = {
  c: Visit
  entries: readonly NamedEntry[]
  /** What else happened. With the entries, as many rows are shown as `most` says. */
  others?: { rows: readonly Happened[]; most: number }
  /** What is shown if there are no entries. */
  none: Child
  /** What the page knows of an entry beyond its details; undefined if nothing. */
  more?: (entry: NamedEntry) => Child | undefined
}

/** The latest audit entries about one object, on its own page, and what else happened. */
export function History({ c, entries, others, none, more }: HistoryProps) {
  const { now } = c.get('rt')
  const logged = entries.map((entry) => ({
    at: idTime(entry.id),
    who: <Who c={c} row={entry} />,
    what: <EntryWhat row={entry} instead={more?.(entry)} />,
  }))
  const all: Happened[] = [...logged, ...(others?.rows ?? [])]
  const rows = all.sort((a, b) => b.at - a.at).slice(0, others?.most)
  const columns: Column<Happened>[] = [
    ['When', ({ at }) => <Time at={at} now={now} />],
    ['Who', ({ who }) => who],
    ['What', ({ what }) => what],
  ]
  return (
    <>
      <h2>History</h2>
      {rows.length > 0 ? (
        <Table label="History" rows={rows} columns={columns} class="audit" />
      ) : (
        <p class="quiet">{none}</p>
      )}
    </>
  )
}
