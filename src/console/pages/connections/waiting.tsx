import { VERDICT_ADVICE } from '../../../inbox/diagnoses/verdicts'
import { MINUTE } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import type { Mistakes } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Dotted, InChosenTimes, Time } from '../../ui/parts'
import { adviceOn, RefusedFor } from '../../ui/refusals'
import { Pending, Refresh, Said, Step, waiting } from '../../ui/steps'
import { isUnderWay } from '../events/row'
import { connectionPath, lastOf } from './describe'
import { ConnectionStanding, Facts, Used } from './facts'
import { guideOf } from './guides'
import { isLocal, SendExample } from './local'
import type { ShownConnection } from './read'
import { FirstTestEvent } from './test-event'

/** The title of the step. */
export const FIRST = 'Receive the first event'

type Arrivals = Omit<ShownConnection, 'names'>
type FirstProps = { c: Visit; of: Arrivals; fresh?: boolean; mistakes?: Mistakes }

/**
 * The step that waits for the first delivery. It then shows the event until it is processed, or the refusal with what to
 * do about it.
 *
 * @param fresh whether it replaces an older version on the page
 * @param mistakes of the form that sends a test event
 */
export function FirstDelivery({ c, of, fresh = false, mistakes = {} }: FirstProps) {
  const { event } = of
  const ended = event !== null && !isUnderWay(event.status)
  const at = ended ? null : `${connectionPath(c, of.row)}/first`
  return (
    <InChosenTimes c={c}>
      <Step
        state={event ? 'done' : 'current'}
        title={FIRST}
        level="h2"
        live={waiting({ id: 'first', at, seen: seenOf(of) })}
      >
        {event ? <Arrived c={c} of={of} /> : <NotYet c={c} of={of} mistakes={mistakes} />}
        {!ended && <Refresh />}
      </Step>
      <Said said={saidOf(of)} fresh={fresh} />
      {fresh && (
        <>
          <ConnectionStanding row={of.row} fresh />
          <Facts c={c} of={of} fresh />
          {of.row.secrets.map(({ id }) => (
            <Used c={c} row={of.row} secret={id} fresh />
          ))}
        </>
      )}
    </InChosenTimes>
  )
}

/** What {@link FirstDelivery} shows, as a short text: while it stays the same, there is nothing to replace. */
export function seenOf({ event, refusals }: Arrivals): string {
  if (event) return `${event.id} ${event.status}`
  return refusals.map(({ cause, n }) => `${cause} ${n}`).join() || 'nothing'
}

function saidOf({ event, refusals: [refusal] }: Arrivals): string {
  if (event) return `The event ${event.event_type} has arrived: ${event.status}.`
  return refusal ? `A delivery was refused: ${refusal.cause}.` : 'Waiting for the first delivery.'
}

function Arrived({ c, of: { row, event } }: { c: Visit; of: Arrivals }) {
  if (!event) return null
  const open = isUnderWay(event.status)
  return (
    <>
      <p class="arrived">
        <a href={`${pathsOf(c).events}/${event.id}`}>
          <code>
            <Dotted>{event.event_type}</Dotted>
          </code>
        </a>{' '}
        <Badge of={event.status} /> <Time at={lastOf(row)} now={c.get('rt').now} />
      </p>
      {open ? (
        <Pending>The event is recorded, and will be processed in a moment.</Pending>
      ) : (
        <p>
          {ENDED[event.status]} <a href={`${pathsOf(c).events}?connection_id=${row.id}`}>See all events</a>, or go to
          the <a href={pathsOf(c).start}>overview</a>.
        </p>
      )}
    </>
  )
}

const ENDED: Record<string, string> = {
  held: 'The connection works. It is paused, so the event is held.',
  processed: 'The connection works.',
  ignored: 'The connection works. Events of this type do not change billing state.',
  failed: 'The connection works, but this event could not be processed. Its page says why.',
}

type NotYetProps = { c: Visit; of: Arrivals; mistakes: Mistakes }

function NotYet({ c, of: { row, refusals, diagnoses, example }, mistakes }: NotYetProps) {
  const guide = guideOf(row.vendor)
  const { now } = c.get('rt')
  const last = refusals.toSorted((a, b) => b.minute - a.minute)[0]
  // An older one can be about something that is mended.
  const why = last && diagnoses.find(({ cause, at }) => cause === last.cause && at >= last.minute * MINUTE)
  return (
    <>
      <Pending>Waiting for the first delivery…</Pending>
      {last ? (
        <section class="refusal" role="alert">
          <p>
            <strong>A delivery was refused</strong>{' '}
            <Time at={Math.min(now, (last.minute + 1) * MINUTE - 1)} now={now} />: <RefusedFor cause={last.cause} />.
          </p>
          <p>{why ? VERDICT_ADVICE[why.verdict] : adviceOn(last.cause)}</p>
        </section>
      ) : (
        !isLocal(c) && guide && <p class="quiet">{guide.first}</p>
      )}
      <FirstTestEvent c={c} row={row} mistakes={mistakes} />
      <SendExample c={c} row={row} secret={example} />
      {isLocal(c) && guide?.forward && <p class="quiet">While the command-line tool forwards events: {guide.first}</p>}
    </>
  )
}
