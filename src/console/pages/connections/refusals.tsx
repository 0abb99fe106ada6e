import { type RefusalCause, withMutes } from '../../../health/refusal-fields'
import { projectOf } from '../../../http/auth'
import { refusalCause } from '../../../inbox/mutes/mutes'
import { MINUTE } from '../../../lib/time'
import { can, pathsOf, type Visit } from '../../page'
import { Time } from '../../ui/parts'
import { adviceOn, Cause } from '../../ui/refusals'
import { type Column, Table } from '../../ui/table'
import { muteActions } from '../mutes/actions'
import { Muted, MuteOrUnmute } from '../mutes/parts'
import { connectionPath } from './describe'
import type { ShownConnection } from './read'

type RefusalsProps = { c: Visit; of: Pick<ShownConnection, 'row' | 'refusals' | 'mutes' | 'names'> }

/** What the connection refused in a day, by cause, with what to do about each, and which causes are muted. */
export function ConnectionRefusals({ c, of: { row, refusals, mutes, names } }: RefusalsProps) {
  const { now } = c.get('rt')
  const at = connectionPath(c, row)
  const causes = withMutes(refusals, mutes)
  const columns: Column<RefusalCause>[] = [
    [
      'Cause',
      ({ cause, mute }) => (
        <>
          <Cause of={cause} />
          {mute && (
            <small class="quiet">
              <Muted mute={mute} names={names} now={now} />
            </small>
          )}
        </>
      ),
    ],
    ['Refused', ({ n }) => n.toLocaleString('en'), 'number'],
    ['Last', ({ minute }) => minute !== null && <Time at={Math.min(now, (minute + 1) * MINUTE - 1)} now={now} />],
    ['What to do', ({ cause }) => <span class="wrapped">{adviceOn(cause)}</span>],
    [
      '',
      ({ cause, mute }) =>
        can(c, 'connections:write') && (
          <MuteOrUnmute c={c} at={`${at}/refusals/${cause}`} isMuted={mute !== null} what={cause} />
        ),
    ],
  ]
  return (
    <>
      <h2 id="refused">Refused deliveries, last 24 hours</h2>
      {causes.length === 0 ? (
        <p class="quiet">None.</p>
      ) : (
        <>
          <p class="quiet">
            Most vendors retry a refused delivery, so it arrives once you fix the cause. We do not keep the bodies of
            refused deliveries. New counts appear within ten seconds.
          </p>
          <Table label="Refused deliveries" class="refusals" rows={causes} columns={columns} />
        </>
      )}
    </>
  )
}

/** Mutes causes of refused deliveries, and unmutes them. */
export const refusalMutes = muteActions({
  at: '/:id/refusals/:code',
  needs: 'connections:write',
  title: 'Mute refused deliveries',
  section: 'connections',
  causeIn: (c) => refusalCause(projectOf(c.get('actor')), c.req.param('id') ?? '', c.req.param('code') ?? ''),
  list: (c) => ['Connection', `${pathsOf(c).connections}/${c.req.param('id')}`],
  says: ({ code }, { name }) => (
    <>
      <p>
        Cause: <Cause of={code} />
      </p>
      <p>Connection: {name}</p>
      <p>
        While this cause is muted, it does not appear under <em>Needs attention</em>, and no notice is sent about it.
        Deliveries with this cause are still refused, counted and shown in the health.
      </p>
    </>
  ),
})
