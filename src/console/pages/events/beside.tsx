import type { Neighbor } from '../../../inbox/search/beside'
import { type Filters, toFilters } from '../../../inbox/search/filters'
import { MAX_BESIDE } from '../../../inbox/search/limits'
import { sourceOfId } from '../../../inbox/sources'
import { Fault } from '../../../lib/fault'
import { pageBefore } from '../../lead'
import { changed } from '../../list'
import { withMode } from '../../mode'
import { pathsOf, type Visit } from '../../page'
import { readSearch } from './search-query'

/** The list that an event is looked at in: its filters, as the address has them and as statements use them. */
export type Around = { address: URLSearchParams; filters: Filters; isNamed: boolean }

/**
 * The list that the visitor came from: the address of the page names it, or it is the page before. Otherwise, and if the event is not of
 * that list's source, it is the list of all events.
 */
export function listAround(c: Visit, id: string): Around {
  const source = sourceOfId(id)
  const named = c.req.query('list')
  const asked = listIn(c, named ?? listBefore(c))
  if (asked?.filters.source === source) return { ...asked, isNamed: named !== undefined }
  const all = listIn(c, source === 'delivery' ? '' : `source=${source}`)
  if (all === null) throw new Error('a list without filters is valid')
  return { ...all, isNamed: true }
}

/** The list of these filters; null if they are invalid. */
function listIn(c: Visit, query: string): Omit<Around, 'isNamed'> | null {
  const { address, fields } = readSearch(new URLSearchParams(query), c.get('rt').now)
  if (fields === null) return null
  try {
    return { address, filters: toFilters(fields) }
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** The filters of the list of events that the visitor has just left, or that the event they have just left was in. */
function listBefore(c: Visit): string {
  const { events } = pathsOf(c)
  const [path = '', query = ''] = pageBefore(c).split('?')
  if (path === events) return withMode(c, new URLSearchParams(query)).toString()
  return path.startsWith(`${events}/`) ? (new URLSearchParams(query).get('list') ?? '') : ''
}

/** Where the list is. A list that the page before was is left to the frame, which knows the page of the list too. */
export function listPath({ address, isNamed }: Around, events: string): string {
  return isNamed && address.size > 0 ? `${events}?${address}` : events
}

type BesideProps = { events: string; around: Around; above: Neighbor; below: Neighbor }

/** Links to the events above and below this one in its list. */
export function Beside({ events, around: { address }, above, below }: BesideProps) {
  if (above === null && below === null) return null
  const query = address.size > 0 ? changed(new URLSearchParams(), { list: address.toString() }) : ''
  const link = (to: Neighbor, label: string, rel: string) => {
    if (to === null) return null
    if (to === 'unknown')
      return (
        <span class="quiet">
          {label}: not among the nearest {MAX_BESIDE}
        </span>
      )
    return (
      <a href={`${events}/${to}${query}`} rel={rel}>
        {label}
        <span class="unseen"> event</span>
      </a>
    )
  }
  return (
    <nav class="neighbors" aria-label="Events beside this one">
      {query !== '' && <span class="quiet">In the filtered list:</span>}
      {link(above, 'Previous', 'prev')}
      {link(below, 'Next', 'next')}
    </nav>
  )
}
