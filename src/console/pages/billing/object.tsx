import type { Context } from 'hono'
import type { Presented } from '../../../billing/read/present'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { capital, words } from '../../ui/format'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { Standing } from './standing'
import { Timeline, type TimelinePage } from './timeline'

/** A billing object: its fields and its timeline. @param list the list that it belongs to */
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
          Several events have the same timestamp, so the current state is uncertain. Check it in the vendor’s dashboard.
        </p>
      )}
      <dl class="facts">
        <Fact name="Source event">
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

/** A field of the object. Fields without a value are not shown. */
function Value({ name, value }: { name: string; value: unknown }) {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null
  return <Fact name={name === 'id' ? 'ID' : capital(name).replaceAll('_', ' ')}>{words(value)}</Fact>
}
