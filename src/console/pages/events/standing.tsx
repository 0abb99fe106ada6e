import type { Effect } from '../../../billing/effect'
import type { EventRow } from '../../../inbox/events/events'
import { vendorOf } from '../../../vendors'
import { eventAdvice } from '../../../vendors/event-errors'
import { namesState } from '../../../vendors/thin'
import { Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'

const WITHOUT_KEY =
  'The event contains only the ID of an object, and its connection had no API key to fetch that object.'
function withoutKey(vendor: string, kept: boolean): string {
  if (!kept) return `${WITHOUT_KEY} ${eventAdvice('payload_gone', vendorTitle(vendor)).todo}`
  const snapshots = vendorOf(vendor)?.api?.thin?.all ? '' : ' Or have the vendor send snapshots.'
  return `${WITHOUT_KEY} Set a key, then replay the event.${snapshots}`
}
const GONE = 'The event contains only the ID of an object, and the vendor no longer has the object.'

type Props = {
  row: EventRow
  /** As they are listed below. */
  effects: readonly Effect[]
  /** Whether the payload is kept. Without it, no replay is offered. */
  kept: boolean
}

/** What the status of an event means, in a sentence. Above it, what went wrong, if anything did. */
export function EventStanding({ now, ...of }: Props & { now: number }) {
  const { row, kept } = of
  return (
    <>
      {row.last_error !== null && <Trouble row={row} error={row.last_error} kept={kept} />}
      <p class="standing">{wordsFor(of, now)}</p>
    </>
  )
}

function wordsFor({ row, effects, kept }: Props, now: number) {
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
      return `The event is processed. ${whatItDid(effects)}`
    case 'ignored':
      if (row.summary && namesState(row.vendor, row.event_type, row.summary.object.type))
        return row.summary.effects.length > 0 ? GONE : withoutKey(row.vendor, kept)
      return vendorOf(row.vendor)?.snapshots
        ? `The event was stored and read, but it had no effect: ${vendor} events of this type do not change billing state.`
        : `The event was stored and read, but it had no effect: ${vendor} events do not become billing state.`
    default:
      // What to do about it follows from the cause: see Trouble.
      return row.processed_at === null
        ? 'Processing failed and changed nothing.'
        : 'The last replay failed. The earlier effects of the event stay.'
  }
}

/** What a processed event did, by the most telling of its effects. */
function whatItDid(effects: readonly Effect[]): string {
  const has = (result: Effect['result']) => effects.some((one) => one.result === result && one.kind !== 'customer_link')
  const changed = effects.some(({ change, result }) => change && result !== 'unplaced')
  if (has('ambiguous'))
    return `${changed ? 'It changed the billing state, but other' : 'Other'} events with the same timestamp contradict it.`
  if (changed) return 'It changed the billing state.'
  if (has('applied')) return 'It confirmed the billing state and changed nothing.'
  if (has('fetched')) return 'It names an object, which was fetched from the vendor.'
  if (has('superseded')) return 'A later event had already set the billing state, so it changed nothing.'
  if (has('unplaced')) return 'It is about a payment, and it has had no effect so far.'
  if (has('gone')) return 'The vendor no longer has the object that it names.'
  return effects.length > 0 ? 'It names a consumer for the customer, and changed nothing else.' : 'It changed nothing.'
}

/** An error: first as it was recorded, because that is what happened to this event; then what it means and what to do. */
function Trouble({ row, error, kept }: Omit<Props, 'effects'> & { error: string }) {
  const vendor = vendorTitle(row.vendor)
  const { what, todo, mayPass } = eventAdvice(row.last_error_code, vendor)
  const waits = row.status !== 'failed' && mayPass
  const advice = waits
    ? 'You do not need to do anything yet. The event will be tried again.'
    : kept
      ? todo
      : eventAdvice('payload_gone', vendor).todo
  return (
    <section class="trouble" aria-label="Error">
      <p>
        Cause: <strong class="error">{error}</strong>
      </p>
      <p>
        {what} {advice}
      </p>
    </section>
  )
}
