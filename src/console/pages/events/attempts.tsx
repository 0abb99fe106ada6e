import type { AttemptRow } from '../../../inbox/events/store'
import { Badge } from '../../ui/badge'
import { duration } from '../../ui/format'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'

type AttemptsProps = { rows: readonly AttemptRow[]; names: ReadonlyMap<string, string>; now: number }

/** The attempts to process an event. @param names of the users and API keys that requested them, by id */
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
            ['Requested by', ({ actor }) => actor && (names.get(actor) ?? <code>{actor}</code>)],
            ['Started', (row) => <Time at={row.started_at} now={now} />],
            ['Duration', (row) => duration(row.finished_at - row.started_at)],
            ['Outcome', (row) => <Badge of={row.outcome} />],
            ['Error', ({ error }) => error && <span class="error">{error}</span>],
          ]}
        />
      )}
    </>
  )
}
