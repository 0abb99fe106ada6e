import { projectOf } from '../http/auth'
import { modeIn } from './browser'
import type { Visit } from './page'

/** Whether live mode was chosen in the sidebar, or test mode; undefined if it was neither. */
export function chosenLivemode(c: Visit): boolean | undefined {
  const chosen = modeIn(c, projectOf(c.get('actor')))
  return chosen === 'all' ? undefined : chosen === 'live'
}

/** Filters of events by the id of something that has one mode. The mode that was chosen does not narrow what they find. */
const NAMED = ['id', 'connection_id', 'ref', 'vendor_event_id', 'replay_id']

/**
 * The filters of a list, from an address of it: with the mode that was chosen in the sidebar, unless the address has a mode of its own. Links
 * that are made of these filters show the same to everybody. `livemode=all` undoes the choice.
 *
 * @param sent by default the address of the page
 */
export function withMode(c: Visit, sent = new URL(c.req.url).searchParams): URLSearchParams {
  const query = new URLSearchParams(sent)
  const livemode = chosenLivemode(c)
  const asked = query.get('livemode')
  if (asked === '' || asked === 'all') query.delete('livemode')
  if (livemode === undefined) return query
  if (asked === '' || asked === 'all') query.set('livemode', 'all')
  else if (asked === null && !NAMED.some((name) => query.has(name))) query.set('livemode', String(livemode))
  return query
}
