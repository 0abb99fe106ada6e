import type { Context } from 'hono'
import type { Plan, Price } from '../../../catalog/plans'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'

/** Asks which plan a price belongs to. Nothing changes before the review of the plan that is chosen. */
export function choosePage(c: Context<HttpEnv>, price: Price, rows: readonly Plan[]) {
  const { plans } = pathsOf(c)
  const query = new URLSearchParams(price)
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
        Which plan does <code>{price.ref}</code> of {vendorTitle(price.vendor)} belong to? You will see who is affected
        before anything changes.
      </p>
      {rows.length > 0 ? (
        <Table
          label="Plans"
          rows={rows}
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
