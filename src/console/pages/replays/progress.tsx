import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { openOf } from '../../../inbox/replay/present'
import type { ReplayRow } from '../../../inbox/replay/store'
import { idTime } from '../../../lib/ids'
import { pathsOf } from '../../page'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, live, Time } from '../../ui/parts'

/**
 * The progress of a replay. The page updates itself until the replay is done.
 *
 * @param rest the search and cursor of the events that a replay of many has left; null if it has left none
 */
export function progressPage(c: Context<HttpEnv>, replay: ReplayRow, rest: URLSearchParams | null) {
  const { events } = pathsOf(c)
  const { id, queued, processed, ignored, failed } = replay
  const open = openOf(replay) ?? 0
  return show(
    c,
    { title: 'Replay', section: 'events', above: ['Webhook events', events] },
    <div id="replay" {...(open > 0 && live('replay', `${events}/replays/${id}${rest ? `?${rest}` : ''}`, '1s'))}>
      <Head title={open > 0 ? 'Replaying…' : 'Replay done'} />
      <p>
        <label for="progress">
          {(queued - open).toLocaleString('en')} of {plural(queued, 'event')} processed again
        </label>
      </p>
      <progress id="progress" max={queued} value={queued - open} />
      {processed !== null && (
        <p>
          {processed.toLocaleString('en')} processed, {(ignored ?? 0).toLocaleString('en')} ignored,{' '}
          {(failed ?? 0).toLocaleString('en')} failed
        </p>
      )}
      <p class="quiet">
        Requested <Time at={idTime(id)} now={c.get('rt').now} />
      </p>
      {rest && (
        <a class="button" href={`${events}/replay?${rest}`}>
          Replay the next events
        </a>
      )}
      <a class="button" href={events}>
        Back to webhook events
      </a>
    </div>,
  )
}
