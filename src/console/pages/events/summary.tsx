import type { EventRow } from '../../../inbox/events/store'
import { idTime } from '../../../lib/ids'
import { Effects } from '../../ui/effects'
import { money, words } from '../../ui/format'
import { Fact, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import type { Decoded, Links } from './links'
import { isOpen } from './row'

type SummaryProps = { row: EventRow; decoded: Decoded; links: Links; now: number }

/** The summary of an event and its effects. */
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
      {row.differing > 0 && (
        <p>
          {row.differing === 1 ? 'A later delivery' : `${row.differing} later deliveries`} of this event had other
          content than the first, most recently <Time at={row.last_differing_at} now={now} />. The first one is stored
          and processed.
        </p>
      )}
      <h2>Effects</h2>
      <Effects of={decoded?.effects ?? []} project={row.project_id} />
    </>
  )
}

type Named = [name: string, value: string | null | undefined, link?: string | undefined]

/** Facts by name. Those without a value are not shown. */
function factsOf(row: EventRow, decoded: Decoded, links: Links): Named[] {
  const object = decoded?.object
  return [
    ['Object', object && [object.type, object.id].filter(Boolean).join(' ')],
    ['Object status', object?.status],
    ['Amount', decoded?.amount && money(decoded.amount)],
    ['Customer', decoded?.customer, links.customer],
    ['Subscription', decoded?.subscription, links.subscription],
    ['Invoice', decoded?.invoice],
    ['Vendor', vendorTitle(row.vendor)],
    ['Mode', row.livemode ? 'Live' : 'Test'],
    ['Vendor API version', decoded?.api_version],
    ['Occurred', row.occurred_at && words(row.occurred_at)],
    ['Vendor event ID', row.vendor_event_id],
    ['ID', row.id],
  ]
}
