import type { Child } from 'hono/jsx'
import type { EventRow } from '../../../inbox/events/events'
import { idTime } from '../../../lib/ids'
import { pathsOf, type Visit } from '../../page'
import { ModeBadge } from '../../ui/badge'
import { Effects } from '../../ui/effects'
import { asWords, modeWord, money, timeOf } from '../../ui/format'
import { Id, NamedId } from '../../ui/id'
import { Fact, Time } from '../../ui/parts'
import { VendorLabel } from '../../ui/vendor'
import { vendorTitle } from '../../ui/vendor-titles'
import { eventMode, isOpenEvent } from './row'
import type { Links } from './store'

type SummaryProps = { c: Visit; row: EventRow; links: Links }

/** The facts about an event. */
export function Summary({ c, row, links }: SummaryProps) {
  const { now } = c.get('rt')
  const { connections, consumers, events } = pathsOf(c)
  const object = row.summary?.object
  return (
    <>
      <h2>Summary</h2>
      <OtherMode row={row} />
      <OtherContent row={row} now={now} />
      <dl class="facts">
        <Fact name="Connection">
          {row.connection_deleted_at === null ? (
            <a href={`${connections}/${row.connection_id}`}>{row.connection_name}</a>
          ) : (
            `${row.connection_name} (deleted)`
          )}
        </Fact>
        <Fact name="Vendor">
          <VendorLabel name={row.vendor} />
        </Fact>
        <Fact name="Mode">
          <ModeBadge of={eventMode(row)} />
        </Fact>
        <Fact name="Received">
          <Time at={idTime(row.id)} now={now} />
        </Fact>
        <Fact name="First completed">
          <Time at={row.processed_at} now={now} none="Not yet" />
        </Fact>
        {row.next_attempt_at !== null && isOpenEvent(row.status) && (
          <Fact name="Next attempt">
            <Time at={row.next_attempt_at} now={now} />
          </Fact>
        )}
        {object?.id && (
          <Fact name="Object">
            {object.type && asWords(object.type)} {namedIn(links, object.id)}{' '}
            <a class="aside" href={`${events}?ref=${encodeURIComponent(object.id)}`}>
              All its events
            </a>
          </Fact>
        )}
        {links.owner?.consumer && (
          <Fact name="Consumer">
            <a href={`${consumers}/${links.owner.consumer.id}`}>{links.owner.consumer.title}</a>
          </Fact>
        )}
        {factsOf(row, links, now).map(([name, value]) => value && <Fact name={name}>{value}</Fact>)}
        <Fact name="Deliveries">
          {row.deliveries === 0 ? (
            'None: the service read it from the vendor’s list of events'
          ) : row.deliveries === 1 ? (
            '1'
          ) : (
            <>
              {row.deliveries.toLocaleString('en')}, the last <Time at={row.last_delivered_at} now={now} />
            </>
          )}
        </Fact>
        <Fact name="Vendor event ID">
          <Id>{row.vendor_event_id}</Id>
        </Fact>
        <Fact name="ID">
          <Id>{row.id}</Id>
        </Fact>
      </dl>
    </>
  )
}

/** The effects of an event as they are shown. */
export const effectsIn = ({ row, links }: Pick<SummaryProps, 'row' | 'links'>) =>
  links.effects ?? row.summary?.effects ?? []

/** What the event changed in the billing state, with links to the objects. */
export function Effected({ row, links }: Pick<SummaryProps, 'row' | 'links'>) {
  const [customer, owner] = [row.summary?.customer, links.owner]
  return (
    <>
      <h2>Effects</h2>
      <Effects
        of={effectsIn({ row, links })}
        project={row.project_id}
        vendor={row.vendor}
        currency={row.summary?.amount?.currency}
        titles={links.titles}
        linked={customer && owner ? { customer, to: owner.consumer } : undefined}
      />
    </>
  )
}

function OtherMode({ row }: { row: EventRow }) {
  const own = row.summary?.livemode ?? null
  if (own === null || own === row.livemode) return null
  return (
    <p class="warning">
      This is a {modeWord(own).toLowerCase()} event, but its connection is set to {modeWord(row.livemode).toLowerCase()}{' '}
      mode. Correct the mode of the connection, or send those events to a separate connection.
    </p>
  )
}

function OtherContent({ row, now }: { row: EventRow; now: number }) {
  if (row.differing === 0) return null
  return (
    <p class="warning">
      {row.differing === 1 ? 'A later delivery' : `${row.differing.toLocaleString('en')} later deliveries`} of this
      event had different content from the first, most recently <Time at={row.last_differing_at} now={now} />. The first
      one is stored and processed. To see the other content, look at the log of {vendorTitle(row.vendor)}.
    </p>
  )
}

type Known = [name: string, value: Child]

/** A billing object or a customer by what it is called. */
const namedIn = ({ titles, pages }: Links, id: string) => (
  <NamedId id={id} title={titles?.get(id)} to={pages?.get(id)} />
)

/** Facts by name. Those without a value are not shown. */
function factsOf({ summary, occurred_at }: EventRow, links: Links, now: number): Known[] {
  const other = (id: string | null | undefined) => id && id !== summary?.object.id && namedIn(links, id)
  return [
    ['Object status', summary?.object.status && asWords(summary.object.status)],
    ['Amount', summary?.amount && money(summary.amount)],
    ['Customer', summary?.customer && namedIn(links, summary.customer)],
    ['Subscription', other(summary?.subscription)],
    ['Invoice', other(summary?.invoice)],
    ['Vendor API version', summary?.api_version],
    ['Occurred', occurred_at && <Time at={timeOf(occurred_at)} now={now} />],
  ]
}
