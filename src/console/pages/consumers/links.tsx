import type { Context } from 'hono'
import type { Link } from '../../../consumers/links'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'

/** What decides which consumer a customer is, with the event. Renders nothing if nothing does. */
export function LinkedBy({ c, of: { linked_by, event_id } }: { c: Context<HttpEnv>; of: Link }) {
  if (linked_by === null) return null
  if (linked_by === 'manual') return <>Set by hand</>
  const what = linked_by === 'customer' ? 'By its metadata' : 'By a checkout or subscription'
  if (event_id === null) return <>{what}</>
  return (
    <>
      {what}, event <a href={`${pathsOf(c).events}/${event_id}`}>{event_id}</a>
    </>
  )
}
