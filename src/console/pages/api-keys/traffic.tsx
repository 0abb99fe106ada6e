import type { KeyRow } from '../../../api-keys/key'
import type { KeyTraffic, KeyTrafficOf } from '../../../api-keys/traffic'
import type { Visit } from '../../page'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'

/** Keys that an action ends or leaves as they are, and how much each is used. */
export function KeysInUse({ c, rows, of }: { c: Visit; rows: readonly KeyRow[]; of: KeyTrafficOf }) {
  const number = (by: keyof KeyTraffic) => (row: KeyRow) => of(row.id)[by].toLocaleString('en')
  return (
    <Table
      label="Usage of the keys"
      rows={rows}
      columns={[
        [
          'Name',
          (row) => (
            <>
              <strong>{row.name}</strong> <code class="line quiet">{row.key_prefix}</code>
            </>
          ),
        ],
        ['Last used', (row) => <Time at={row.last_used_at} now={c.get('rt').now} />],
        ['Requests in the last hour', number('hour'), 'number'],
        ['Since yesterday, UTC', number('recent'), 'number'],
        ['In 7 days', number('week'), 'number'],
      ]}
    />
  )
}
