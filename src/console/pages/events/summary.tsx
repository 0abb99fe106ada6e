import type { EventRow } from '../../../inbox/events/store'
import { idTime } from '../../../lib/ids'
import { Effects } from '../../ui/effects'
import { money, words } from '../../ui/format'
import { Fact, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import type { Decoded, Links } from './links'
import { isOpen } from './row'

type SummaryProps = { row: EventRow; decoded: Decoded; links: Links; now: number }

/** What an event is about, and what it did. */
export function Summary({ row, decoded, links, now }: SummaryProps) {
  return (
    <>
      <h2>Summary</h2>
      <dl class="facts">
        <Fact name="Received">
          <Time at={idTime(row.id)} now={now} />
        </Fact>
        <Fact name="First completed">
          <Time at={row.processed_at} now={now} none="Not yet" />
        </Fact>
        {row.next_attempt_at !== null && isOpen(row.status) && (
          <Fact name="Next attempt">
            <Time at={row.next_attempt_at} now={now} />
          </Fact>
        )}
        {factsOf(row, decoded, links).map(
          ([name, value, link]) => value && <Fact name={name}>{link ? <a href={link}>{value}</a> : value}</Fact>,
        )}
        {row.deliveries > 1 && <Fact name="Delivered">{row.deliveries} times</Fact>}
      </dl>
      <h2>Effects</h2>
      <Effects of={decoded?.effects ?? []} project={row.project_id} />
    </>
  )
}

type Named = [name: string, value: string | null | undefined, link?: string | undefined]

/** Facts by name; one without a value is left out. */
function factsOf(row: EventRow, decoded: Decoded, links: Links): Named[] {
  const object = decoded?.object
  return [
    ['Object', object && [object.type, object.id].filter(Boolean).join(' ')],
    ['Object’s status', object?.status],
    ['Amount', decoded?.amount && money(decoded.amount)],
    ['Customer', decoded?.customer, links.customer],
    ['Subscription', decoded?.subscription, links.subscription],
    ['Invoice', decoded?.invoice],
    ['Vendor', vendorTitle(row.vendor)],
    ['Mode', row.livemode ? 'Live' : 'Test'],
    ['Vendor’s API version', decoded?.api_version],
    ['Vendor’s time', row.occurred_at && words(row.occurred_at)],
    ['Vendor’s event id', row.vendor_event_id],
    ['Id', row.id],
  ]
}
