import type { Consumer } from '../../../consumers/read'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { stopAfter } from '../../ui/format'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Copyable, Email, ExactTime, Fact, Head } from '../../ui/parts'
import { TabLinks } from '../../ui/tabs'
import { History } from '../audit-log/history'
import { invoices } from '../billing/invoices'
import { paymentMethods } from '../billing/payment-methods'
import { purchases } from '../billing/purchases'
import { subscriptions } from '../billing/subscriptions'
import { EntitlementsSection, GrantsSection } from '../entitlements/section'
import { Customers, Events, Latest } from './belongings'
import { Devices } from './devices'
import { ConsumerGlance } from './glance'
import { deviceOf, happenedTo } from './happened'
import { Identities } from './identities'
import { titleOf } from './parts'
import { HISTORY, isLiving, type ShownConsumer } from './read'
import { ErasedState } from './state'
import { TABS, type TabName } from './tabs'

/** The page of one consumer. A merged one leads to the consumer that took its place. */
export function consumerPage(c: Visit, of: ShownConsumer, tab: TabName | null) {
  const { row, erasure } = of
  const living = isLiving(row)
  const { consumers } = pathsOf(c)
  const title = (
    <>
      {titleOf(row)} <Badge of={row.state} />
    </>
  )
  return show(
    c,
    { title: titleOf(row), section: 'consumers', above: ['Consumers', consumers] },
    <>
      <Head title={title}>{living && <Actions c={c} row={row} />}</Head>
      <Standing c={c} of={of} />
      {living && <ConsumerGlance c={c} of={of} />}
      <Facts c={c} row={row} />
      {erasure && <ErasedState c={c} row={row} erasure={erasure} />}
      {living ? <Parts c={c} of={of} tab={tab} /> : <Past c={c} of={of} />}
    </>,
  )
}

type Props = { c: Visit; of: ShownConsumer }

/** The parts of the page, in tabs that have addresses. */
function Parts({ c, of, tab }: Props & { tab: TabName | null }) {
  const path = `${pathsOf(c).consumers}/${of.row.id}`
  return (
    <>
      <TabLinks path={path} tabs={TABS.filter(({ needs }) => can(c, needs))} current={tab} />
      {tab === 'access' && (
        <>
          <EntitlementsSection c={c} consumer={of.row} of={of.entitlements} />
          <GrantsSection c={c} consumer={of.row.id} of={of.grants} />
        </>
      )}
      {tab === 'billing' && (
        <>
          <Customers c={c} of={of} />
          <Latest c={c} of={of} list={subscriptions} found={of.latest.subscription} />
          <Latest c={c} of={of} list={purchases} found={of.latest.purchase} />
          <Latest c={c} of={of} list={invoices} found={of.latest.invoice} />
          <Latest c={c} of={of} list={paymentMethods} found={of.latest.payment_method} />
        </>
      )}
      {tab === 'events' && <Events c={c} of={of} />}
      {tab === 'devices' && (
        <>
          <Devices c={c} of={of} />
          <Identities c={c} of={of} />
        </>
      )}
      {tab === 'history' && <Past c={c} of={of} />}
    </>
  )
}

/** The audit log's entries about the consumer, its grants, devices and links, and what else happened to it. */
function Past({ c, of }: Props) {
  const { row, history } = of
  if (history === null) return null
  return (
    <>
      <History
        c={c}
        entries={history}
        others={{ rows: happenedTo(c, of), most: HISTORY }}
        none="Nothing yet."
        more={(entry) => deviceOf(of, entry)}
      />
      {history.length > 0 && (
        <p>
          <a href={`${pathsOf(c).audit}?object_id=${row.id}`}>All entries of the audit log about this consumer</a>
        </p>
      )}
    </>
  )
}

/** What a person must know about a consumer that is not active. */
function Standing({ c, of: { row, into } }: Props) {
  const { state, blocked_reason } = row
  if (state === 'blocked') {
    return (
      <p class="warning bad" role="note">
        This consumer is blocked{blocked_reason === null ? '.' : `: “${blocked_reason}”.`}
      </p>
    )
  }
  if (state === 'erased') {
    return (
      <p class="notice" role="note">
        This consumer was erased. All its details, its IDs and its devices are gone, and it cannot be changed.
      </p>
    )
  }
  if (into === null) return null
  return (
    <p class="notice" role="note">
      This consumer was merged into <a href={`${pathsOf(c).consumers}/${into.id}`}>{titleOf(into)}</a>
      {stopAfter(titleOf(into))} Its IDs, customers and devices are there now.
    </p>
  )
}

function Actions({ c, row: { id, state } }: { c: Visit; row: Consumer }) {
  const path = `${pathsOf(c).consumers}/${id}`
  return (
    <>
      {can(c, 'consumers:write') && (
        <>
          <a class="button" href={`${path}/edit`}>
            Edit
          </a>
          <a class="button" href={`${path}/merge`}>
            Merge into…
          </a>
          <a class="button" href={`${path}/${state === 'blocked' ? 'unblock' : 'block'}`} data-dialog>
            {state === 'blocked' ? 'Unblock' : 'Block'}
          </a>
        </>
      )}
      {can(c, 'consumers:erase') && (
        <a class="button danger" href={`${path}/erase`} data-dialog>
          Erase
        </a>
      )}
    </>
  )
}

function Facts({ c, row }: { c: Visit; row: Consumer }) {
  const { now } = c.get('rt')
  const { id, state, created_at, updated_at, metadata } = row
  return (
    <>
      <dl class="facts">
        {state !== 'erased' && <Person row={row} />}
        <Fact name="ID">
          <Id>{id}</Id>
        </Fact>
        <Fact name="Created">
          <ExactTime at={created_at} now={now} />
        </Fact>
        <Fact name="Changed">
          <ExactTime at={updated_at} now={now} />
        </Fact>
      </dl>
      {Object.keys(metadata).length > 0 && (
        <details class="metadata">
          <summary>
            Metadata <span class="count">{Object.keys(metadata).length}</span>
          </summary>
          <Copyable id="metadata" label="metadata">
            {JSON.stringify(metadata, null, 2)}
          </Copyable>
        </details>
      )}
    </>
  )
}

/** What an erasure removes. The page begins with the name. */
function Person({ row: { name, email, external_ids } }: { row: Consumer }) {
  return (
    <>
      {name === null && (
        <Fact name="Name">
          <span class="quiet">None</span>
        </Fact>
      )}
      <Fact name="Email address">{email === null ? <span class="quiet">None</span> : <Email of={email} />}</Fact>
      <Fact name={external_ids.length > 1 ? 'Your IDs' : 'Your ID'}>
        {external_ids.length > 0 ? (
          external_ids.map((one) => <code class="line">{one}</code>)
        ) : (
          <span class="quiet">None</span>
        )}
      </Fact>
    </>
  )
}
