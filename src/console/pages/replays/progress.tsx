import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { ReplayRow } from '../../../inbox/replay/store'
import { idTime } from '../../../lib/ids'
import { pathsOf } from '../../page'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, live, Time } from '../../ui/parts'

/** The progress of a replay. The page updates itself until the replay is done. */
export function progressPage(c: Context<HttpEnv>, replay: ReplayRow) {
  const { events } = pathsOf(c)
  const { id, queued, open } = replay
  return show(
    c,
    { title: 'Replay', section: 'events', above: ['Webhook events', events] },
    <div id="replay" {...(open > 0 && live('replay', `${events}/replays/${id}`, '1s'))}>
      <Head title={open > 0 ? 'Replaying…' : 'Replay done'} />
      <p>
        <label for="progress">
          {(queued - open).toLocaleString('en')} of {plural(queued, 'event')} processed again
        </label>
      </p>
      <progress id="progress" max={queued} value={queued - open} />
      <p class="quiet">
        Requested <Time at={idTime(id)} now={c.get('rt').now} />
      </p>
      <a class="button" href={events}>
        Back to webhook events
      </a>
    </div>,
  )
}
