import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import { Badge } from '../../ui/badge'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { titleOf } from './words'

/** Consumers that a typed text can mean, each with what chooses it. */
export function Choices(props: { c: Context<HttpEnv>; rows: Consumer[]; choose: (row: Consumer) => Child }) {
  const { c, rows, choose } = props
  return (
    <>
      <p>Several consumers match. Choose one:</p>
      <Table
        label="Consumers that match"
        rows={rows}
        class="consumers"
        columns={[
          ['Consumer', (row) => <span class="name">{titleOf(row)}</span>],
          ['Your ID', ({ external_ids: [first] }) => first && <code>{first}</code>],
          ['State', ({ state }) => <Badge of={state} />],
          ['Created', ({ created_at }) => <Time at={created_at} now={c.get('rt').now} />],
          ['', choose],
        ]}
      />
    </>
  )
}
