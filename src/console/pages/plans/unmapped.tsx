import type { Context } from 'hono'
import { MAX_UNMAPPED, NEWEST_SUBSCRIPTIONS } from '../../../catalog/limits'
import type { Price, Unmapped } from '../../../catalog/plans'
import type { HttpEnv } from '../../../http/context'
import { can, pathsOf } from '../../page'
import { type Column, Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'

const AMONG = `among the ${NEWEST_SUBSCRIPTIONS.toLocaleString('en')} subscriptions that changed last`

/** Prices that subscriptions have and no plan. Who pays for one of them gets nothing for it. */
export function UnmappedPrices({ c, rows }: { c: Context<HttpEnv>; rows: readonly Unmapped[] }) {
  return (
    <>
      <h2>Prices without a plan</h2>
      {rows.length > 0 ? (
        <>
          <p class="quiet">
            Prices {AMONG}. Whoever pays for one of them gets no feature for it.
            {rows.length > MAX_UNMAPPED && ` These are the ${MAX_UNMAPPED} most frequent ones.`}
          </p>
          <Table
            label="Prices without a plan"
            rows={rows.slice(0, MAX_UNMAPPED)}
            columns={columnsOf(c)}
            class="consumers"
          />
        </>
      ) : (
        <p class="quiet">Every price {AMONG} belongs to a plan.</p>
      )}
    </>
  )
}

function columnsOf(c: Context<HttpEnv>): Column<Unmapped>[] {
  const columns: Column<Unmapped>[] = [
    [
      'Price',
      ({ price, product, name }) => (
        <>
          <code class="line">{price ?? product}</code>
          {name !== null && <span class="line quiet">{name}</span>}
        </>
      ),
    ],
    ['Product', ({ product }) => product !== null && <code>{product}</code>],
    ['Vendor', ({ vendor }) => vendorTitle(vendor)],
    ['Subscriptions', ({ n }) => n.toLocaleString('en'), 'number'],
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
export function addPath(c: Context<HttpEnv>, { vendor, ref }: Price): string {
  return `${pathsOf(c).plans}/add?${new URLSearchParams({ vendor, ref })}`
}
