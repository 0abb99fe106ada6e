import type { ConnectionRow } from '../../../inbox/connections/connection'
import { pathsOf, type Visit } from '../../page'
import { Badge, ModeBadge } from '../../ui/badge'
import { Id } from '../../ui/id'
import { Dotted, Fact, Time } from '../../ui/parts'
import { totalOf } from '../../ui/refusals'
import { VendorLabel } from '../../ui/vendor'
import { lastOf, standingOf } from './describe'
import type { ShownConnection } from './read'

/** `fresh`: replaces an older version on the page, beside the part that the page asks for. */
type Part = { fresh?: boolean }
type FactsProps = Part & { c: Visit; of: Omit<ShownConnection, 'names'> }

const changed = ({ fresh }: Part) => ({ 'hx-swap-oob': fresh ? 'true' : undefined })

/** The state of a connection as a badge. */
export function ConnectionStanding({ row, ...part }: Part & { row: ConnectionRow }) {
  return (
    <span id="standing" {...changed(part)}>
      <Badge of={standingOf(row)} />
    </span>
  )
}

/** When a signing secret was last used. */
export function Used({ c, row, secret, ...part }: Part & { c: Visit; row: ConnectionRow; secret: string }) {
  return (
    <span id={`used-${secret}`} {...changed(part)}>
      <Time at={row.secrets_used[secret] ?? null} now={c.get('rt').now} />
    </span>
  )
}

/** What is known about a connection. */
export function Facts({ c, of: { row, event, hour }, ...part }: FactsProps) {
  const { now } = c.get('rt')
  return (
    <dl id="facts" class="facts" {...changed(part)}>
      <Fact name="Vendor">
        <VendorLabel name={row.vendor} />
      </Fact>
      <Fact name="Mode">
        <ModeBadge of={row.livemode} />
      </Fact>
      <Fact name="Last event">
        <Time at={lastOf(row)} now={now} />
        {event && (
          <>
            {' '}
            <a href={`${pathsOf(c).events}/${event.id}`}>
              <Dotted>{event.event_type}</Dotted>
            </a>{' '}
            <Badge of={event.status} />
          </>
        )}
      </Fact>
      <Fact name="Accepted, last hour">{hour.accepted.toLocaleString('en')}</Fact>
      <Fact name="Refused, last hour">{totalOf(hour.refused).toLocaleString('en')}</Fact>
      <Fact name="Created">
        <Time at={row.created_at} now={now} />
      </Fact>
      <Fact name="ID">
        <Id>{row.id}</Id>
      </Fact>
    </dl>
  )
}
