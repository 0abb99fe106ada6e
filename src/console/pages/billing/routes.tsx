import type { Context } from 'hono'
import { Hono } from 'hono'
import type { Child } from 'hono/jsx'
import { noObject } from '../../../billing/names'
import { listing } from '../../../billing/read/list'
import { type Presented, present } from '../../../billing/read/present'
import { findObject, listObjects } from '../../../billing/read/store'
import { batch, run } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { listReferring } from '../../../inbox/timeline/store'
import { timelineOf } from '../../../inbox/timeline/timeline'
import { INVOICE_STATUSES, PAYMENT_METHOD_STATUSES, SUBSCRIPTION_STATUSES } from '../../../vendors/objects'
import { page } from '../../page'
import { projectPaths } from '../../paths'
import { capital, money, words } from '../../ui/format'
import { show } from '../../ui/layout'
import { Badge, Fact, Field, Head, More, Select, Table, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendors'
import { Changes } from '../events/effects'

const ROWS = 50
const EVENTS = 100

const KINDS = {
  subscriptions: { kind: 'subscription', title: 'Subscriptions', statuses: SUBSCRIPTION_STATUSES },
  invoices: { kind: 'invoice', title: 'Invoices', statuses: INVOICE_STATUSES },
  'payment-methods': { kind: 'payment_method', title: 'Payment methods', statuses: PAYMENT_METHOD_STATUSES },
} as const
type Part = keyof typeof KINDS

/** The billing state: what the vendors' events say of subscriptions, invoices and payment methods. */
export const billingPages = new Hono<HttpEnv>()
for (const part of Object.keys(KINDS) as Part[]) {
  billingPages
    .get(`/${part}`, page('billing:read'), (c) => list(c, part))
    .get(`/${part}/:object`, page('billing:read'), (c) => object(c, part))
}

async function list(c: Context<HttpEnv>, part: Part) {
  const { kind, title, statuses } = KINDS[part]
  const { db, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { billing } = projectPaths(project)
  const [customer, status] = [c.req.query('customer') || undefined, c.req.query('status') || undefined]
  const asked = listing(kind, { customer, status, cursor: c.req.query('cursor'), limit: ROWS })
  const found = asked.page(await run(db, listObjects(db, project, kind, asked)))
  return show(
    c,
    { title, section: 'billing' },
    <>
      <Head title={title} />
      <nav class="tabs" aria-label="Billing state">
        {Object.entries(KINDS).map(([path, one]) => (
          <a href={`${billing}/${path}`} aria-current={path === part ? 'page' : undefined}>
            {one.title}
          </a>
        ))}
      </nav>
      <search>
        <form action={`${billing}/${part}`} class="filters">
          <Field name="customer" label="Customer id" value={customer ?? ''} maxlength={200} />
          <Field name="status" label="Status">
            <Select
              name="status"
              value={status}
              options={[['', 'Any'], ...statuses.map((one) => [one, one] as const)]}
            />
          </Field>
          <div class="field actions">
            <button type="submit" class="primary">
              Search
            </button>
            {(customer || status) && (
              <a class="button" href={`${billing}/${part}`}>
                Clear
              </a>
            )}
          </div>
        </form>
      </search>
      {found.data.length > 0 ? (
        <Table
          label={title}
          heads={['Id', 'Status', 'Customer', 'What', 'Vendor', 'Changed']}
          rows={found.data.map((row) => [
            <a href={`${billing}/${part}/${encodeURIComponent(row.id)}?vendor=${row.vendor}`}>
              <code>{row.id}</code>
            </a>,
            <Standing of={row} />,
            <code>{row.customer}</code>,
            whatOf(row),
            vendorTitle(row.vendor),
            <Time at={timeOf(row.updated_at)} now={now} none="" />,
          ])}
        />
      ) : (
        <p class="quiet">
          {customer || status || found.truncated
            ? 'Nothing matches here.'
            : 'Nothing yet: events of Stripe and Paddle become billing state as they are processed.'}
        </p>
      )}
      {found.truncated && <p>This page looked at as many rows as it may. Go on with the next one.</p>}
      <More c={c} cursor={found.next_cursor} />
    </>,
  )
}

async function object(c: Context<HttpEnv>, part: Part) {
  const { kind, title } = KINDS[part]
  const { db, now } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { billing, events } = projectPaths(project)
  const id = c.req.param('object') ?? ''
  const timeline = timelineOf({ kind, id }, null, EVENTS)
  const found = await batch(db, {
    objects: findObject(db, project, kind, id, c.req.query('vendor')),
    events: listReferring(db, project, id, timeline.before, timeline.take),
  })
  const [row] = found.objects
  if (!row) throw noObject(kind)
  const { entries, resume } = timeline.page(found.events)
  const { source_event_id, status, vendor_status, ambiguous, vendor, ...fields } = present(row)
  return show(
    c,
    { title: id, section: 'billing', above: [title, `${billing}/${part}`] },
    <>
      <Head
        title={
          <>
            {id} <Standing of={{ status, vendor_status, ambiguous }} />
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
      <h2>Timeline</h2>
      {entries.length === 0 ? (
        <p class="quiet">Its events are past their retention.</p>
      ) : (
        <Table
          label="Timeline"
          heads={['Event', 'Result', 'Change', 'Vendor’s time', 'Received']}
          rows={entries.map((entry) => [
            <a href={`${events}/${entry.event_id}`}>{entry.event_type}</a>,
            <Badge of={entry.result ?? entry.status} />,
            <Changes of={entry.change} />,
            entry.occurred_at && words(entry.occurred_at),
            <Time at={timeOf(entry.received_at)} now={now} />,
          ])}
        />
      )}
      {resume !== null && <p class="quiet">Older events are in the API’s timeline.</p>}
    </>,
  )
}

/** The house's word, the vendor's own where it is another, and whether it is undecided. */
function Standing({ of }: { of: Pick<Presented, 'status' | 'vendor_status' | 'ambiguous'> }) {
  const { status, vendor_status, ambiguous } = of
  return (
    <>
      <Badge of={status} /> {vendor_status && vendor_status !== status && <span class="quiet">{vendor_status}</span>}{' '}
      {ambiguous && <Badge of="ambiguous" />}
    </>
  )
}

/** A row in short: what is subscribed to, what an invoice comes to, the end of a card. */
function whatOf(row: Presented): Child {
  const { items, total, currency, card } = row as Presented & {
    items?: unknown[]
    total?: number | null
    currency?: string | null
    card?: { brand: string | null; last4: string | null } | null
  }
  if (items) return words(items).slice(0, 120)
  if (total != null && currency) return money({ value: total, currency })
  return card ? `${card.brand ?? 'card'} … ${card.last4 ?? '?'}` : ''
}

/** A field as a fact; what the vendor does not say is left out. */
function Value({ name, value }: { name: string; value: unknown }) {
  if (value === null || (Array.isArray(value) && value.length === 0)) return null
  return <Fact name={capital(name).replaceAll('_', ' ')}>{words(value)}</Fact>
}

function timeOf(iso: string | null): number | null {
  const at = iso === null ? Number.NaN : Date.parse(iso)
  return Number.isNaN(at) ? null : at
}
