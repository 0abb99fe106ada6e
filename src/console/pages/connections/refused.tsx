import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { MINUTE } from '../../../lib/time'
import { Time } from '../../ui/parts'
import { adviceOn } from '../../ui/refusals'
import { Table } from '../../ui/table'
import type { Shown } from './read'

/** What the connection refused in a day, by cause, with what to do about each. */
export function Refused({ c, of: { refusals } }: { c: Context<HttpEnv>; of: Pick<Shown, 'refusals'> }) {
  const { now } = c.get('rt')
  return (
    <>
      <h2 id="refused">Refused deliveries, last 24 hours</h2>
      {refusals.length === 0 ? (
        <p class="quiet">None.</p>
      ) : (
        <>
          <p class="quiet">
            Most vendors send a refused delivery again, so it arrives once the cause is fixed. The bodies of refused
            deliveries are not kept. Counts appear within ten seconds.
          </p>
          <Table
            label="Refused deliveries"
            rows={refusals}
            columns={[
              ['Cause', ({ cause }) => <code>{cause}</code>],
              ['Refused', ({ n }) => n.toLocaleString('en'), 'number'],
              ['Last', ({ minute }) => <Time at={Math.min(now, (minute + 1) * MINUTE - 1)} now={now} />],
              ['What to do', ({ cause }) => <span class="wrapped">{adviceOn(cause)}</span>],
            ]}
          />
        </>
      )}
    </>
  )
}
