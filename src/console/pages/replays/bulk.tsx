import { type EventErrorCode, eventAdvice } from '../../../vendors/event-errors'
import { asLeft } from '../../lead'
import { pathsOf, type Visit } from '../../page'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { ReplayFilters } from './parts'

/** Asks before all events that a search finds are replayed. */
export function bulkPage(
  c: Visit,
  { query, cursor, filters }: { query: URLSearchParams; cursor?: string; filters: readonly string[] },
  { matched, queued, has_more }: { matched: number; queued: number; has_more: boolean },
) {
  const { events } = pathsOf(c)
  const chosen = query.getAll('id')
  const list = chosen.length > 0 ? asLeft(c, events) : `${events}?${query}`
  const which = chosen.length > 0 ? 'the events that you chose' : 'events that match the search'
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
      {queued > 0 && isVain(query) && (
        <p class="warning">
          {queued === 1 ? 'It' : `All ${queued.toLocaleString('en')}`} would fail in the same way: fix the cause first.
        </p>
      )}
      {filters.length > (chosen.length > 0 ? 1 : 0) && (
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

/** Whether a search finds only events that failed with one cause, and would fail in the same way again. */
function isVain(query: URLSearchParams): boolean {
  const code = query.get('error_code')
  const isFailed = query.getAll('status').join() === 'failed'
  return isFailed && code !== null && !eventAdvice(code as EventErrorCode, '').mayPass
}
