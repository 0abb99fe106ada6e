import { MAX_UNMAPPED, NEWEST_SUBSCRIPTIONS } from '../../../catalog/limits'
import type { NamedPlan, Price } from '../../../catalog/plans'
import type { Unmapped } from '../../../catalog/sold'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { VendorLabel } from '../../ui/vendor'
import { vendorTitle } from '../../ui/vendor-titles'
import type { Amounts } from './read'

const AMONG = `in the ${NEWEST_SUBSCRIPTIONS.toLocaleString('en')} subscriptions and ${NEWEST_SUBSCRIPTIONS.toLocaleString('en')} purchases that changed most recently`

type Props = { c: Visit; rows: readonly Unmapped[]; amounts: Amounts }

/** Prices that subscriptions or purchases have and no plan. Consumers who pay for one of them get nothing for it. */
export function UnmappedPrices({ c, rows, amounts }: Props) {
  return (
    <>
      <h2>Prices without a plan</h2>
      {rows.length > 0 ? (
        <>
          <p class="quiet">
            Prices {AMONG}. A customer who pays for one of them gets no features.
            {rows.length > MAX_UNMAPPED && ` These are the ${MAX_UNMAPPED} most frequent ones.`}
          </p>
          <Table
            label="Prices without a plan"
            rows={rows.slice(0, MAX_UNMAPPED)}
            columns={columnsOf({ c, rows, amounts })}
            class="consumers"
          />
        </>
      ) : (
        <p class="quiet">Every price {AMONG} belongs to a plan.</p>
      )}
    </>
  )
}

function columnsOf({ c, rows, amounts }: Props): Column<Unmapped>[] {
  const amountOf = ({ vendor, price }: Unmapped) => price !== null && amounts({ vendor, ref: price })
  const columns: Column<Unmapped>[] = [
    [
      'Price',
      ({ price, product, name, active }) => (
        <>
          <code class="line">{price ?? product}</code>
          {name !== null && <span class="line quiet">{name}</span>}
          {active === false && <Badge of="not for sale" />}
        </>
      ),
    ],
    [
      'Product',
      ({ product, product_name }) => (
        <>
          {product !== null && <code class="line">{product}</code>}
          {product_name !== null && <span class="line quiet">{product_name}</span>}
        </>
      ),
    ],
    ...(rows.some(amountOf) ? ([['Amount', amountOf, 'number']] as const) : []),
    ['Vendor', ({ vendor }) => <VendorLabel name={vendor} />],
    ['Subscriptions', ({ n }) => n.toLocaleString('en'), 'number'],
    ['Purchases', ({ bought }) => bought.toLocaleString('en'), 'number'],
  ]
  const add: Column<Unmapped> = [
    '',
    ({ vendor, price, product }) => {
      const ref = price ?? product ?? ''
      return (
        <a class="button" href={addPath(c, { vendor, ref })}>
          Add to plan…<span class="unseen"> {ref}</span>
        </a>
      )
    },
  ]
  return can(c, 'catalog:write') ? [...columns, add] : columns
}

/** The page that asks for the plan of a price. */
export function addPath(c: Visit, price: Price): string {
  return `${pathsOf(c).plans}/add?${queryOf(price)}`
}

/** A price as a query names it. */
export function queryOf({ vendor, ref }: Price): string {
  return String(new URLSearchParams({ vendor, ref }))
}

/** Asks which plan a price belongs to. Nothing changes before the review of the plan that is chosen. */
export function choosePlanPage(c: Visit, price: Price, rows: readonly NamedPlan[]) {
  const { plans } = pathsOf(c)
  const query = queryOf(price)
  const activeFirst = rows.toSorted((a, b) => Number(b.state === 'active') - Number(a.state === 'active'))
  return show(
    c,
    { title: 'Add to plan', section: 'plans', above: ['Plans', plans] },
    <>
      <Head title="Add to plan">
        <a class="button" href={`${plans}/new?${query}`}>
          New plan
        </a>
      </Head>
      <p>
        Which plan does <code>{price.ref}</code> from {vendorTitle(price.vendor)} belong to? You will see who is
        affected before anything changes.
      </p>
      {rows.length > 0 ? (
        <Table
          label="Plans"
          rows={activeFirst}
          class="consumers"
          columns={[
            ['Plan', ({ name }) => <span class="name">{name}</span>],
            ['Key', ({ key }) => <code>{key}</code>],
            ['State', ({ state }) => <Badge of={state} />],
            [
              '',
              ({ id, key }) => (
                <a class="button" href={`${plans}/${id}/edit?${query}`}>
                  Choose<span class="unseen"> {key}</span>
                </a>
              ),
            ],
          ]}
        />
      ) : (
        <p class="quiet">There are no plans yet.</p>
      )}
    </>,
  )
}
