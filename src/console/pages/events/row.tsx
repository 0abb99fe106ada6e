import type { EventRow } from '../../../inbox/events/events'
import { presentEvent } from '../../../inbox/events/present'
import { FINAL_STATUSES } from '../../../inbox/lifecycle'
import { idTime } from '../../../lib/ids'
import { can, pathsOf, type Visit } from '../../page'
import { Badge, TestBadge } from '../../ui/badge'
import { Choose } from '../../ui/choosing'
import { capital } from '../../ui/format'
import { Id } from '../../ui/id'
import { Dotted, None, Time } from '../../ui/parts'
import { Cells, type Column } from '../../ui/table'

/** The number of characters of an error that a row shows. */
const ERROR_SHOWN = 200

/** Whether the processing of the event is not finished. */
export const isOpenEvent = (status: string) => !(FINAL_STATUSES as readonly string[]).includes(status)
/** Whether an event is open and not held, so that it changes by itself. */
export const isUnderWay = (status: string) => isOpenEvent(status) && status !== 'held'

/** The mode that an event says it is of; that of its connection, if it does not say. */
export const eventMode = (row: Pick<EventRow, 'summary' | 'livemode'>) => row.summary?.livemode ?? row.livemode

/** Whether the visitor can choose events of the list, to replay them. */
export const choosesEvents = (c: Visit) => can(c, 'billing:write')

/**
 * An event of the list. `consumer`: what the consumer of its customer is called; null if none is linked. `unlinked`: what the vendor calls a
 * customer without a consumer, if that is known.
 */
export type ListedEvent = EventRow & { consumer: string | null; unlinked: string | undefined }

/**
 * The columns of the list. `assets/styles/events.css` lays them out by their numbers, and the last one as the last.
 *
 * @param choosing whether rows can be chosen
 */
export function listColumns(c: Visit, choosing = false): Column<ListedEvent>[] {
  const [type, status, object, ...others] = eventColumns(c, choosing)
  const consumer: Column<ListedEvent> = [
    'Consumer',
    ({ consumer, unlinked }) => (consumer ? <Name of={consumer} /> : unlinked && <Unlinked of={unlinked} />),
    'bare',
  ]
  return [type, status, object, consumer, ...others]
}

type EventColumns = [type: Column<EventRow>, status: Column<EventRow>, object: Column<EventRow>, ...Column<EventRow>[]]

/** The columns without the consumer: of events of one consumer. @param choosing whether rows can be chosen */
export function eventColumns(c: Visit, choosing = false): EventColumns {
  const { now } = c.get('rt')
  const { events } = pathsOf(c)
  return [
    [
      'Type',
      (row) => (
        <>
          {choosing && <Choose id={row.id} name={row.event_type} />}
          <a href={`${events}/${row.id}`}>
            <Dotted>{row.event_type}</Dotted>
          </a>
        </>
      ),
    ],
    [
      'Status',
      (row) => (
        <>
          <Badge of={row.status} /> <TestBadge of={eventMode(row)} />{' '}
          {row.last_error && <span class="cut error">{capital(row.last_error.slice(0, ERROR_SHOWN))}</span>}
        </>
      ),
      'bare',
    ],
    ['Object', (row) => <ObjectId of={idOf(row)} />, 'bare'],
    ['Connection', (row) => <Name of={row.connection_name} />, 'least'],
    ['Attempts', (row) => row.attempts, 'number least'],
    ['Received', (row) => <Time at={idTime(row.id)} now={now} />, 'bare'],
  ]
}

/** The number of characters of a name that fit into its column at every width. */
const ALWAYS_FITS = 10

/** A name. One that may be too long for its column has it in full on hover: the page has a hundred names, and 60 KB. */
const Name = ({ of }: { of: string }) => <span title={of.length > ALWAYS_FITS ? of : undefined}>{of}</span>

const Unlinked = ({ of }: { of: string }) => (
  <i>
    <Name of={of} /> <small>Not linked</small>
  </i>
)

/** The id of the object that the event is about. */
const idOf = (row: EventRow) => presentEvent(row).decoded_summary?.object.id

/** On a narrow screen, a cell without a value is left out. */
const ObjectId = ({ of }: { of: string | null | undefined }) => (of ? <Id>{of}</Id> : <None />)

type RowProps = { c: Visit; row: ListedEvent; how?: 'fresh' | 'changed' }

/** An event in the list. @param how for a row from a live update: `fresh` is added, `changed` replaces its old version */
export function Row({ c, row, how }: RowProps) {
  return (
    <tr
      id={row.id}
      class={how === 'fresh' ? how : undefined}
      data-open={isOpenEvent(row.status) ? row.status : undefined}
      hx-swap-oob={how === 'changed' ? 'true' : undefined}
    >
      <Cells columns={listColumns(c, choosesEvents(c))} row={row} />
    </tr>
  )
}

const ENDED: Partial<Record<EventRow['status'], string>> = {
  ignored: 'The event was processed again, and ignored: it changes no billing state.',
  failed: 'The event was processed again, and failed.',
}

/** Says that a requested replay is on its way and, once it has ended, how it ended. @param after the attempts before it */
export function ReplayResult({ row, after, at }: { row: EventRow; after: number; at: string }) {
  if (isOpenEvent(row.status)) {
    return (
      <p class="notice" role="status">
        The event will be processed again. This page says when that is done.{' '}
        <noscript>
          <a href={`${at}?replayed=${after}`}>Reload the page</a> to see the result.
        </noscript>
      </p>
    )
  }
  if (row.attempts <= after) return null
  const words = ENDED[row.status] ?? 'The event was processed again.'
  return (
    <p class={row.status === 'failed' ? 'warning' : 'notice'} role="status" data-say={words}>
      {words}
    </p>
  )
}
