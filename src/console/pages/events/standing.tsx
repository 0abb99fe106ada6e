import type { EventRow } from '../../../inbox/events/events'
import { vendorOf } from '../../../vendors'
import { eventAdvice } from '../../../vendors/event-errors'
import { namesState } from '../../../vendors/thin'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'

const WITHOUT_KEY =
  'The event contains only the ID of an object, and its connection had no API key to fetch that object. Set a key, then replay the event.'
const withoutKey = (vendor: string) =>
  vendorOf(vendor)?.api?.thin?.all ? WITHOUT_KEY : `${WITHOUT_KEY} Or have the vendor send snapshots.`
const GONE = 'The event contains only the ID of an object, and the vendor no longer has the object.'

/** What the status of an event means, in a sentence. Above it, what went wrong, if anything did. */
export function EventStanding({ row, now }: { row: EventRow; now: number }) {
  return (
    <>
      {row.last_error !== null && <Trouble row={row} error={row.last_error} />}
      <p class="standing">{wordsFor(row, now)}</p>
    </>
  )
}

function wordsFor(row: EventRow, now: number) {
  const vendor = vendorTitle(row.vendor)
  switch (row.status) {
    case 'received':
      return 'The event is recorded. The first attempt to process it starts within seconds.'
    case 'queued':
      return 'A replay was requested. The event is processed again within seconds.'
    case 'processing':
      return 'The event is being processed.'
    case 'retrying':
      return (
        <>
          The last attempt failed. The next one is due <Time at={row.next_attempt_at} now={now} />.
        </>
      )
    case 'held':
      return row.connection_status === 'paused'
        ? 'The connection is paused, so the event waits. It will be processed after the connection is resumed.'
        : 'The event was held while the connection was paused. It will be released after the events that came before it.'
    case 'processed':
      return (row.summary?.effects ?? []).length > 0
        ? 'The event is processed. Its effects are part of the billing state.'
        : 'The event is processed. It changed nothing.'
    case 'ignored':
      if (row.summary && namesState(row.vendor, row.event_type, row.summary.object.type))
        return row.summary.effects.length > 0 ? GONE : withoutKey(row.vendor)
      return vendorOf(row.vendor)?.snapshots
        ? `The event was stored and read, but it had no effect: ${vendor} events of this type do not change billing state.`
        : `The event was stored and read, but it had no effect: ${vendor} events do not become billing state.`
    default:
      return row.processed_at === null
        ? 'Processing failed and changed nothing. Replay the event to try again.'
        : 'The last replay failed. The earlier effects of the event stay. Replay the event to try again.'
  }
}

/** An error: first as it was recorded, because that is what happened to this event; then what it means and what to do. */
function Trouble({ row, error }: { row: EventRow; error: string }) {
  const { what, todo, mayPass } = eventAdvice(row.last_error_code, vendorTitle(row.vendor))
  const waits = row.status !== 'failed' && mayPass
  return (
    <section class="trouble" aria-label="Error">
      <p>
        Cause: <strong class="error">{error}</strong>
      </p>
      <p>
        {what} {waits ? 'You do not need to do anything yet. The event will be tried again.' : todo}
      </p>
    </section>
  )
}
