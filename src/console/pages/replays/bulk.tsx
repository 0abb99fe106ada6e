import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { Post } from '../../ui/controls'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'

/** How many events a search finds, before they are replayed. */
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
        {query.size === 0 ? 'Every event of the project is meant.' : 'Every event that the search finds is meant.'} Each
        is processed again, a hundred a second. Processing is idempotent: what is applied already is not applied twice.
        Events that are open already are left to the run that is coming.
      </p>
      {has_more && (
        <p class="warning">There are more: one replay takes {matched}. Replay again when this one is done.</p>
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
