import type { Change } from '../../../feed/fields'
import type { Page } from '../../../http/page'
import { pathsOf, type Visit } from '../../page'
import type { Mistakes } from '../../refusal'
import { Field, Select } from '../../ui/controls'
import { FilterActions } from '../../ui/filters'
import { timeOf } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { CHOICES, saidOf } from './words'

/** The changes of the project. `list` is null if the filter is invalid. */
export function listPage(
  c: Visit,
  { types, mistakes }: { types: string; mistakes: Mistakes },
  list: Page<Change> | null,
) {
  const { changes } = pathsOf(c)
  const options = CHOICES.some(([value]) => value === types) ? CHOICES : [...CHOICES, [types, types] as const]
  return show(
    c,
    { title: 'Changes', section: 'changes', status: list === null ? 422 : 200 },
    <>
      <Head title="Changes" />
      <p class="quiet">
        The changes that your servers read at <code>GET /platform/v1/changes</code>, here with the newest first. They
        are kept for 30 days.
      </p>
      <search>
        <form class="search" method="get" action={changes}>
          <div class="filters">
            <Field name="types" label="Type" mistakes={mistakes}>
              <Select name="types" value={types} options={options} />
            </Field>
            <FilterActions clear={types === '' ? null : changes} />
          </div>
        </form>
      </search>
      {list && (
        <>
          {list.data.length > 0 ? (
            <Table label="Changes" rows={list.data} columns={columnsOf(c)} class="audit" />
          ) : (
            <p class="quiet">
              {list.has_more
                ? 'No matching changes on this page. Older changes are on the next page.'
                : 'No matching changes in the last 30 days.'}
            </p>
          )}
          <Pager c={c} cursor={list.next_cursor} />
        </>
      )}
    </>,
  )
}

function columnsOf(c: Visit): Column<Change>[] {
  const { now } = c.get('rt')
  return [
    ['Number', ({ number }) => number, 'number'],
    ['When', ({ at }) => <Time at={timeOf(at)} now={now} />],
    [
      'Type',
      ({ type, fields }) => (
        <>
          {saidOf(type)}
          {fields !== null && fields.length > 0 && <span class="line quiet">{fields.join(', ')}</span>}
        </>
      ),
    ],
    ['Object', (change) => <About c={c} change={change} />],
    [
      'Consumer',
      ({ consumer_id }) => consumer_id && <Linked to={`${pathsOf(c).consumers}/${consumer_id}`} id={consumer_id} />,
    ],
    ['Because of', ({ cause }) => cause && <Linked to={causePath(c, cause)} id={cause.id} />, 'spare'],
  ]
}

/** An id, which leads to its page if it has one. */
function Linked({ to, id }: { to: string | undefined; id: string }) {
  return to === undefined ? (
    <code>{id}</code>
  ) : (
    <a href={to}>
      <code>{id}</code>
    </a>
  )
}

/** The object of a change, with a link to its page if it has one. */
function About({ c, change: { object, consumer_id } }: { c: Visit; change: Change }) {
  const paths = pathsOf(c)
  const id = encodeURIComponent(object.id)
  const ofVendor = (path: string) => `${paths.billing}/${path}/${id}?vendor=${object.vendor}`
  const to: Record<string, string | undefined> = {
    subscription: ofVendor('subscriptions'),
    invoice: ofVendor('invoices'),
    payment_method: ofVendor('payment-methods'),
    customer: `${paths.customers}/${object.vendor}/${id}`,
    webhook_event: `${paths.events}/${id}`,
    event: `${paths.events}/${id}`,
    replay: `${paths.replays}/${id}`,
    consumer: `${paths.consumers}/${id}`,
    grant: `${paths.consumers}/${consumer_id}/grants`,
    plan: `${paths.plans}/${id}`,
    api_key: `${paths.keys}/${id}`,
    connection: `${paths.connections}/${id}`,
    project: paths.general,
  }
  return <Linked to={to[object.type]} id={object.id} />
}

/** Fetches and entries of the audit log have no page of their own. */
function causePath(c: Visit, { type, id }: NonNullable<Change['cause']>): string | undefined {
  return type === 'webhook_event' ? `${pathsOf(c).events}/${id}` : undefined
}
