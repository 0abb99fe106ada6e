import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { AttemptRow, EventRow } from '../../../inbox/events/store'
import { can, pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { Post } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head, live } from '../../ui/parts'
import { Attempts } from './attempts'
import type { Decoded, Links } from './links'
import { Payload } from './payload'
import { isOpen } from './row'
import { Summary } from './summary'

type Shown = {
  row: EventRow
  decoded: Decoded
  links: Links
  attempts: readonly AttemptRow[]
  names: ReadonlyMap<string, string>
}

/** An event: its summary, attempts and payload. The page updates itself until the event is processed. */
export function eventPage(c: Context<HttpEnv>, { row, decoded, links, attempts, names }: Shown) {
  const { events } = pathsOf(c)
  const { now } = c.get('rt')
  const at = `${events}/${row.id}`
  return show(
    c,
    { title: row.event_type, section: 'events', above: ['Webhook events', events] },
    <div id="event" {...(isOpen(row.status) && live('event', at, '2s'))}>
      <Head
        title={
          <>
            {row.event_type} <Badge of={row.status} />
          </>
        }
      >
        {can(c, 'billing:write') && (
          <>
            <a class="button" href={`${at}/replay`}>
              Dry run
            </a>
            <Post c={c} to={`${at}/replay`}>
              <button type="submit">Replay</button>
            </Post>
          </>
        )}
      </Head>
      {row.last_error && <p class="error">{row.last_error}</p>}
      <Summary row={row} decoded={decoded} links={links} now={now} />
      <Attempts rows={attempts} names={names} now={now} />
      <Payload row={row} at={at} />
    </div>,
  )
}
