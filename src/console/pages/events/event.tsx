import { MOST_COUNTED } from '../../../db/total'
import type { AttemptRow } from '../../../inbox/attempts'
import type { EventRow } from '../../../inbox/events/events'
import type { ObjectChange } from '../../../inbox/events/object-change'
import type { Neighbor } from '../../../inbox/search/beside'
import { eventAdvice } from '../../../vendors/event-errors'
import { can, pathsOf, type Visit } from '../../page'
import { Badge, TestBadge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Dotted, Head, InChosenTimes } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { Attempts } from './attempts'
import { type Around, Beside, listPath } from './beside'
import { causeQuery, hasCause } from './cause-parts'
import { changesInHtml, ObjectChanged } from './changed'
import { PayloadView } from './payload'
import { MAX_FIND } from './payload-search'
import { eventMode, isOpenEvent, isUnderWay, ReplayResult } from './row'
import { EventStanding } from './standing'
import type { Links } from './store'
import { Effected, effectsIn, Summary } from './summary'

export type ShownEvent = {
  row: EventRow
  /** Of the payload; null if it is gone. */
  bytes: number | null
  headers: Record<string, string> | null
  links: Links
  /** How many failed events have its cause; null if it has none, or if that is not known. */
  alike: number | null
  /** Null in a live update, which leaves it as it is. */
  changed: ObjectChange | null
  isArchived: boolean
  /** The events beside it; null in a live update. */
  list: { around: Around; above: Neighbor; below: Neighbor } | null
  attempts: readonly AttemptRow[]
  /** Of the users and API keys that requested attempts, by id. */
  names: ReadonlyMap<string, string>
  /** How many attempts there were before a replay that was just requested; null if no replay was. */
  after: number | null
}

/** An event: its state, beside its payload. */
export function eventPage(c: Visit, shown: ShownEvent) {
  const { row } = shown
  const { events } = pathsOf(c)
  return show(
    c,
    {
      title: row.event_type,
      section: 'events',
      above: ['Events', shown.list ? listPath(shown.list.around, events) : events],
      beside: shown.list && <Beside events={events} {...shown.list} />,
    },
    <div class="event">
      <Now c={c} of={shown} />
      <div class="beside">
        <ObjectChanged of={shown.changed} events={events} vendor={vendorTitle(row.vendor)} />
        <PayloadView
          row={row}
          headers={shown.headers}
          at={`${events}/${row.id}`}
          used={changesInHtml(shown.changed)}
          find={(c.req.query('find') ?? '').trim().slice(0, MAX_FIND)}
          list={shown.list?.around.address.toString() ?? ''}
        />
      </div>
    </div>,
  )
}

/** The answer to a live update: only {@link Now}. */
export function nowFragment(c: Visit, shown: ShownEvent) {
  return (
    <InChosenTimes c={c}>
      <Now c={c} of={shown} />
    </InChosenTimes>
  )
}

/**
 * What changes while an event is processed. It updates itself until that is done, unless the event is held. The payload beside
 * it stays, with what the reader has unfolded.
 */
function Now({ c, of }: { c: Visit; of: ShownEvent }) {
  const { row, bytes, links, attempts, names, after } = of
  const { now } = c.get('rt')
  const at = `${pathsOf(c).events}/${row.id}`
  return (
    <div id="now" {...(isUnderWay(row.status) && updating(at, row, after))}>
      <Head
        title={
          <>
            <Dotted>{row.event_type}</Dotted> <Badge of={row.status} /> <TestBadge of={eventMode(row)} />
          </>
        }
      >
        {can(c, 'billing:write') && bytes !== null && <Again row={row} at={at} />}
      </Head>
      <div class="facing">
        {after !== null && <ReplayResult row={row} after={after} at={at} />}
        <EventStanding row={row} effects={effectsIn(of)} kept={bytes !== null} now={now} />
        {of.isArchived && (
          <p class="quiet">
            This event is archived: lists and searches do not show it. A replay brings it back until it is archived
            again.
          </p>
        )}
        {hasCause(row) && <Alike row={row} n={of.alike} events={pathsOf(c).events} />}
        <Summary c={c} row={row} links={links} />
        <Attempts row={row} rows={attempts} names={names} now={now} />
        <Effected row={row} links={links} />
      </div>
    </div>
  )
}

/** A link to all failed events with the cause of this one, unless it is the only one. */
function Alike({ row, n, events }: { row: EventRow; n: number | null; events: string }) {
  if (n === 1) return null
  return (
    <p>
      <a href={`${events}?${causeQuery(row)}`}>
        All {n !== null && n <= MOST_COUNTED && n.toLocaleString('en')} failed events with this cause
      </a>
    </p>
  )
}

/** While an attempt is on its way, none is offered. A waiting retry can be started now. */
function Again({ row, at }: { row: EventRow; at: string }) {
  if (isOpenEvent(row.status) && row.status !== 'retrying') return null
  // A newer version of this service may read it.
  const isVain = row.status === 'failed' && !eventAdvice(row.last_error_code, row.vendor).mayPass
  return (
    <a id="replay" class="button" href={`${at}/replay`} data-dialog>
      {row.status === 'retrying' ? 'Retry now' : isVain ? 'Replay anyway' : 'Replay'}
    </a>
  )
}

/** What is shown, so that the server answers with nothing while it is the same. */
export const versionOf = ({ status, attempts, deliveries }: EventRow) => `${status}.${attempts}.${deliveries}`

function updating(at: string, row: EventRow, after: number | null) {
  const query = new URLSearchParams({ seen: versionOf(row), ...(after !== null && { replayed: String(after) }) })
  return {
    'hx-get': `${at}?${query}`,
    'hx-swap': 'outerHTML',
    'hx-trigger': 'every 2s',
    'data-live': '',
  }
}
