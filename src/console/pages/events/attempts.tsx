import type { AttemptRow } from '../../../inbox/events/store'
import { Badge } from '../../ui/badge'
import { duration } from '../../ui/format'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'

type AttemptsProps = { rows: readonly AttemptRow[]; names: ReadonlyMap<string, string>; now: number }

/** An event's attempts. @param names who asked for them, by their ids */
export function Attempts({ rows, names, now }: AttemptsProps) {
  return (
    <>
      <h2>Attempts</h2>
      {rows.length === 0 ? (
        <p class="quiet">None yet.</p>
      ) : (
        <Table
          label="Attempts"
          rows={rows}
          columns={[
            ['#', (row) => row.number],
            ['Trigger', (row) => row.trigger],
            ['By', ({ actor }) => actor && (names.get(actor) ?? <code>{actor}</code>)],
            ['Started', (row) => <Time at={row.started_at} now={now} />],
            ['Took', (row) => duration(row.finished_at - row.started_at)],
            ['Outcome', (row) => <Badge of={row.outcome} />],
            ['Error', ({ error }) => error && <span class="error">{error}</span>],
          ]}
        />
      )}
    </>
  )
}
