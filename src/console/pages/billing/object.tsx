import type { Context } from 'hono'
import type { Presented } from '../../../billing/present'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { capital, words } from '../../ui/format'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { Standing } from './standing'
import { Timeline, type TimelinePage } from './timeline'

/** One billing object: its fields, and the events that it comes from. @param list the list it is in */
export function objectDetail(
  c: Context<HttpEnv>,
  list: { title: string; path: string },
  object: Presented,
  timeline: TimelinePage,
) {
  const { billing, events } = pathsOf(c)
  const { source_event_id, status, vendor_status, ambiguous, vendor, ...fields } = object
  return show(
    c,
    { title: object.id, section: 'billing', above: [list.title, `${billing}/${list.path}`] },
    <>
      <Head
        title={
          <>
            {object.id} <Standing of={object} />
          </>
        }
      />
      {ambiguous && (
        <p class="warning">
          Several events of one instant claim the last word, and nothing in them decides: the vendor’s dashboard does.
        </p>
      )}
      <dl class="facts">
        <Fact name="Said by">
          <a href={`${events}/${source_event_id}`}>{source_event_id}</a>
        </Fact>
        <Fact name="Vendor">{vendorTitle(vendor)}</Fact>
        {Object.entries(fields).map(([name, value]) => (
          <Value name={name} value={value} />
        ))}
      </dl>
      <Timeline c={c} page={timeline} />
    </>,
  )
}

/** A field as a fact; what the vendor does not say is left out. */
function Value({ name, value }: { name: string; value: unknown }) {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null
  return <Fact name={capital(name).replaceAll('_', ' ')}>{words(value)}</Fact>
}
