import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'

/** Asks before all events that a search finds are replayed. */
export function bulkPage(
  c: Context<HttpEnv>,
  query: URLSearchParams,
  { matched, has_more }: { matched: number; has_more: boolean },
) {
  const { events } = pathsOf(c)
  return show(
    c,
    { title: 'Replay events', section: 'events', above: ['Webhook events', `${events}?${query}`] },
    <section class="confirm">
      <h1>Replay {plural(matched, 'event')}?</h1>
      <p>
        {query.size === 0 ? 'This replays all events of the project' : 'This replays all events that match the search'},
        at 100 events per second. Processing is idempotent: changes that were already applied are not applied twice.
        Events that are already waiting to be processed are skipped.
      </p>
      {has_more && (
        <p class="warning">
          There are more events, but one replay can include only {matched}. Replay again when this one is done.
        </p>
      )}
      {query.size > 0 && <pre class="code">{[...query].map(([name, value]) => `${name} = ${value}`).join('\n')}</pre>}
      <Post c={c} to={`${events}/replay`} class="choice">
        <input type="hidden" name="search" value={String(query)} />
        {matched > 0 && (
          <button type="submit" class="primary">
            Replay {plural(matched, 'event')}
          </button>
        )}
        <a class="button" href={`${events}?${query}`}>
          Cancel
        </a>
      </Post>
    </section>,
  )
}
