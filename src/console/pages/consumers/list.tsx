import { CONSUMER_STATES, type ConsumerState } from '../../../consumers/schema'
import { projectOf } from '../../../http/auth'
import { publicOrigin } from '../../../http/origin'
import type { Page } from '../../../http/page'
import { APPLICATION } from '../../../lib/key-presets'
import { sortedBy } from '../../list'
import { can, pathsOf, type Visit } from '../../page'
import { Badge, TestBadge } from '../../ui/badge'
import { CsvLink } from '../../ui/csv-link'
import { FilterChips, KeptOrder } from '../../ui/filters'
import { Finder } from '../../ui/finder'
import { capital } from '../../ui/format'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Copyable, Head, None, Time } from '../../ui/parts'
import { type Column, EMAIL_COLUMN, Table } from '../../ui/table'
import { Total } from '../../ui/total'
import { type AskedConsumers, type ConsumerRow, type FoundConsumers, plansPaidFor } from './find'
import { titleOf } from './parts'

type Found = Page<ConsumerRow> & Omit<FoundConsumers, keyof Page<unknown>>

/** The consumers of the project, with a box that finds one. If there are none: how the first one is created. */
export function listPage(c: Visit, asked: AskedConsumers, page: Found) {
  const { consumers } = pathsOf(c)
  const narrowed = asked.q !== '' || asked.state !== undefined
  const empty = page.data.length === 0 && !narrowed && !page.truncated && c.req.query('cursor') === undefined
  return show(
    c,
    { title: 'Consumers', section: 'consumers' },
    <>
      <Head title="Consumers">
        {page.data.length > 0 && <CsvLink c={c} at={consumers} />}
        {can(c, 'consumers:write') && (
          <a class="button primary" href={`${consumers}/new`}>
            New consumer
          </a>
        )}
      </Head>
      {empty ? (
        <NoConsumers c={c} />
      ) : (
        <>
          <Finder
            action={consumers}
            q={asked.q ?? ''}
            label="Find by name, email address or ID"
            placeholder="Name, email address, your own ID or csm_…"
            maxlength={300}
          >
            {asked.state && <input type="hidden" name="state" value={asked.state} />}
            <KeptOrder order={asked.order} />
          </Finder>
          <States at={consumers} asked={asked} />
          <Total n={page.total} one="consumer" />
          {page.data.length > 0 ? (
            <Table
              label="Consumers"
              rows={page.data}
              columns={columnsOf(c)}
              class="consumers"
              sorted={sortedBy('Created', asked.order, new URL(c.req.url).searchParams)}
            />
          ) : (
            <NoMatch at={consumers} asked={asked} page={page} />
          )}
          {page.cut && <p>Only the first matches are listed. Enter more letters to find others.</p>}
          {page.truncated && <p>There may be more matches. Continue on the next page.</p>}
          <Pager c={c} cursor={page.next_cursor} />
        </>
      )}
    </>,
  )
}

function States({ at, asked: { q, state, order } }: { at: string; asked: AskedConsumers }) {
  const link = (value: ConsumerState | undefined) => {
    const query = new URLSearchParams({ ...(q && { q }), ...(value && { state: value }), ...(order && { order }) })
    return query.size > 0 ? `${at}?${query}` : at
  }
  const options = [undefined, ...CONSUMER_STATES].map((value) => ({
    label: capital(value ?? 'all'),
    href: link(value),
    on: value === state,
  }))
  return <FilterChips label="State" options={options} />
}

function columnsOf(c: Visit): Column<ConsumerRow>[] {
  const { now } = c.get('rt')
  const paying: Column<ConsumerRow>[] = [
    ['Plan', (row) => <Plans of={row} />],
    [
      'Subscription',
      ({ subscribed }) =>
        subscribed && (
          <>
            <Badge of={subscribed.status} /> <TestBadge of={subscribed.livemode} />
          </>
        ),
    ],
  ]
  return [
    [
      'Consumer',
      (row) => (
        <>
          <a class="name" href={`${pathsOf(c).consumers}/${row.id}`}>
            {titleOf(row)}
          </a>
          {row.state !== 'active' && (
            <span class="line">
              <Badge of={row.state} />
            </span>
          )}
        </>
      ),
    ],
    ...(can(c, 'billing:read') ? paying : []),
    EMAIL_COLUMN,
    ['Your ID', ({ external_ids }) => external_ids.length > 0 && <Ids of={external_ids} />, 'spare'],
    ['Created', ({ created_at }) => <Time at={created_at} now={now} />],
  ]
}

/** The plans that a consumer pays for; then those that are granted to it. */
function Plans({ of: { subscribed, granted = [] } }: { of: ConsumerRow }) {
  const bought = subscribed ? plansPaidFor(subscribed) : []
  const others = granted.filter((name) => !bought.includes(name))
  if (bought.length + others.length === 0) return subscribed ? <span class="quiet">Price not in a plan</span> : <None />
  return (
    <>
      {bought.length > 0 && <Names of={bought} />}
      {others.length > 0 && (
        <span class="line">
          <Names of={others} /> <span class="quiet">granted</span>
        </span>
      )}
    </>
  )
}

/** Names in one line. */
function Names({ of }: { of: string[] }) {
  const names = of.join(', ')
  return (
    <span class="cut" title={names}>
      {names}
    </span>
  )
}

/** The first external id; the number of the others. */
function Ids({ of: [first, ...others] }: { of: string[] }) {
  return (
    <>
      <code class="line">{first}</code>
      {others.length > 0 && <span class="quiet">and {others.length} more</span>}
    </>
  )
}

type NoMatchProps = { at: string; asked: AskedConsumers; page: Pick<FoundConsumers, 'truncated' | 'cut'> }

function NoMatch({ at, asked: { q, state }, page: { truncated, cut } }: NoMatchProps) {
  if (truncated) return <p class="quiet">No matching consumers so far.</p>
  if (cut) return <p class="empty">None of the first matches is {state}.</p>
  if (q === '') return <p class="empty">No consumer is {state}.</p>
  return (
    <section class="empty">
      <h2>No consumer found</h2>
      <p>
        No {state} consumer has a name, a last name, an email address or an ID that begins with “{q}”.{' '}
        <a href={at}>Show all consumers</a>.
      </p>
    </section>
  )
}

function NoConsumers({ c }: { c: Visit }) {
  return (
    <section class="empty">
      <h2>No consumers yet</h2>
      <p>
        A consumer is an end user of your product, identified by your own ID. Your server creates each one with this
        call, for example when a user signs up. It is safe to repeat the call.
      </p>
      <Copyable id="put" label="call with curl">
        {putExample(c)}
      </Copyable>
      <p>
        Use an API key created for <q>{APPLICATION.label}</q>
        {can(c, 'api_keys:write') && (
          <>
            : <a href={`${pathsOf(c).keys}/new`}>create one</a>
          </>
        )}
        .
      </p>
      <p>
        Give the same ID to your billing vendor, as <code>consumer_external_id</code> in the metadata of the customer.
        Events then link the vendor’s customer to the consumer.
      </p>
    </section>
  )
}

/** The call that creates a consumer, with curl. It reads the key from the environment. */
function putExample(c: Visit): string {
  const origin = publicOrigin(c) ?? 'https://your-deployment.example'
  return `curl -X PUT ${origin}/platform/v1/consumers/ext:user_4711 \\
  -H "Authorization: Bearer $PLATFORM_API_KEY" \\
  -H "X-Project-Id: ${projectOf(c.get('actor'))}" \\
  -H "Content-Type: application/json" \\
  -d '{"email":"ada@example.com","name":"Ada Lovelace"}'`
}
