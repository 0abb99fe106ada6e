import type { Feature } from '../../../catalog/features'
import type { Plan } from '../../../catalog/plans'
import type { Unmapped } from '../../../catalog/sold'
import { FromField } from '../../from'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { type Option, Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { FeatureInputs, PLAN, PlanInputs, PriceFields } from './fields'
import { queryOf } from './unmapped'

type Filled = Sent & { entered: URLSearchParams }

/**
 * The form of a new plan. It maps no prices: nobody has the plan yet, and who gets it with a price is shown by the review of
 * a change. The price that is chosen leads there.
 */
export function createPage(
  c: Visit,
  { catalog, unmapped }: { catalog: readonly Feature[]; unmapped: readonly Unmapped[] },
  { status, ...sent }: Filled,
) {
  const prices = priceOptions(sent.entered, unmapped)
  const { plans } = pathsOf(c)
  return show(
    c,
    { title: 'New plan', section: 'plans', above: ['Plans', plans], status },
    <>
      <Head title="New plan" />
      <Post c={c} to={plans} class="form once">
        <FromField c={c} />
        <Wrong>{sent.mistakes.form}</Wrong>
        <PlanInputs sent={sent} isNew />
        <FeatureInputs sent={sent} catalog={catalog} />
        {prices.length > 1 && PLAN.field('price', sent, { options: prices })}
        <SubmitOrCancel label="Create plan" back={plans} />
      </Post>
    </>,
  )
}

/** The form that changes a plan. It leads to the review of the change. @param etag of the plan that the user has seen */
export function editPage(
  c: Visit,
  { plan, catalog }: { plan: Plan; catalog: readonly Feature[] },
  etag: string,
  { status, ...sent }: Filled,
) {
  const path = `${pathsOf(c).plans}/${plan.id}`
  return show(
    c,
    { title: 'Edit plan', section: 'plans', above: [plan.name, path], status },
    <>
      <Head title="Edit plan" />
      <Post c={c} to={`${path}/edit`} class="form">
        <FromField c={c} />
        <input type="hidden" name="etag" value={etag} autocomplete="off" />
        <Wrong>{sent.mistakes.form}</Wrong>
        <PlanInputs sent={sent} />
        <FeatureInputs sent={sent} catalog={catalog} />
        <PriceFields sent={sent} />
        <SubmitOrCancel label="Review change" back={path} />
      </Post>
    </>,
  )
}

/** The prices that a new plan can be made for, each as the query that names it. The one that was chosen is always among them. */
function priceOptions(entered: URLSearchParams, unmapped: readonly Unmapped[]): Option[] {
  const chosen = entered.get('price') ?? ''
  const options = new Map([['', 'None yet']])
  if (chosen !== '') options.set(chosen, new URLSearchParams(chosen).get('ref') ?? chosen)
  for (const { vendor, price, product, name, product_name } of unmapped) {
    const ref = price ?? product ?? ''
    const named = [product_name, name, ref].filter((part) => part !== null)
    options.set(queryOf({ vendor, ref }), `${vendorTitle(vendor)}: ${named.join(', ')}`)
  }
  return [...options]
}
