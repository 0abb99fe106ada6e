import type { EventRow } from '../../../inbox/events/events'
import { isFinal } from '../../../inbox/lifecycle'
import { type EventErrorCode, eventAdvice } from '../../../vendors/event-errors'
import { asLeft } from '../../lead'
import { pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { ReplayFilters } from './parts'

/** What is to be replayed. `chosen`: the events that were ticked, if any were. */
type AskedReplay = {
  query: URLSearchParams
  cursor?: string
  filters: readonly string[]
  chosen: readonly Pick<EventRow, 'status' | 'last_error_code'>[]
}

/** Asks before all events that a search finds are replayed. */
export function bulkPage(
  c: Visit,
  { query, cursor, filters, chosen }: AskedReplay,
  { matched, queued, has_more }: { matched: number; queued: number; has_more: boolean },
) {
  const { events } = pathsOf(c)
  const isChosen = query.has('id')
  const list = isChosen ? asLeft(c, events) : `${events}?${query}`
  const which = isChosen ? 'the events that you chose' : 'events that match the search'
  return show(
    c,
    { title: 'Replay events', section: 'events', above: ['Events', list] },
    <section class="confirm">
      <h1>{queued > 0 ? `Replay ${plural(queued, 'event')}?` : 'Nothing to replay'}</h1>
      {matched === 0 && <p>{query.size === 0 ? 'The project has no events.' : 'No event matches the search.'}</p>}
      {queued > 0 && (
        <p>
          This replays {query.size === 0 ? 'events of the project' : which}, at 100 events per second. Changes that were
          already applied are not applied twice.
        </p>
      )}
      {queued > 0 && isVain(query, chosen) && (
        <p class="warning">
          {queued === 1 ? 'It' : `All ${queued.toLocaleString('en')}`} would fail in the same way: fix the cause first.
        </p>
      )}
      {filters.length > (isChosen ? 1 : 0) && (
        <div class="code">
          <ReplayFilters of={filters} />
        </div>
      )}
      {queued < matched && (
        <p>
          {plural(matched - queued, 'more event')} {matched - queued === 1 ? 'is' : 'are'} skipped: already waiting to
          be processed, or without a payload.
        </p>
      )}
      {has_more && (
        <p class="warning">There are more events than one replay can include. You can replay the rest afterwards.</p>
      )}
      <Post c={c} to={`${events}/replay`} class="choice">
        <input type="hidden" name="search" value={String(query)} />
        {cursor !== undefined && <input type="hidden" name="cursor" value={cursor} />}
        {queued > 0 && (
          <button type="submit" class="primary">
            Replay {plural(queued, 'event')}
          </button>
        )}
        <a class="button" href={list}>
          {queued > 0 ? 'Cancel' : 'Back to events'}
        </a>
      </Post>
    </section>,
  )
}

/** Whether every event to be replayed has failed and would fail in the same way again: each chosen event, or all that a search for one cause finds. */
function isVain(query: URLSearchParams, chosen: AskedReplay['chosen']): boolean {
  if (query.has('id')) {
    const ended = chosen.filter(({ status }) => isFinal(status))
    return ended.length > 0 && ended.every(({ status, last_error_code }) => failsAgain([status], last_error_code))
  }
  return failsAgain(query.getAll('status'), query.get('error_code') as EventErrorCode | null)
}

function failsAgain(statuses: readonly string[], code: EventErrorCode | null): boolean {
  return statuses.join() === 'failed' && !eventAdvice(code, '').mayPass
}
