import type { Feature } from '../../../catalog/features'
import type { Plan } from '../../../catalog/plans'
import { FromField } from '../../from'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { BLANK, FeatureInputs, openedFor, PlanInputs, PriceFields, pricesIn } from './fields'

/**
 * The form of a new plan. It maps no prices: nobody has the plan yet, and who gets it with a price is shown by the review of
 * a change.
 */
export function createPage(c: Visit, catalog: readonly Feature[], { entered = BLANK, ...of }: Sent) {
  const { mistakes, status } = of
  const sent = { entered, mistakes }
  // The price that the new plan is for, if it is made for one.
  const [price] = pricesIn(entered)
  const { plans } = pathsOf(c)
  return show(
    c,
    { title: 'New plan', section: 'plans', above: ['Plans', plans], status },
    <>
      <Head title="New plan" />
      <Post c={c} to={plans} class="form once">
        <FromField c={c} />
        <Wrong>{mistakes.form}</Wrong>
        {price && (
          <>
            <input type="hidden" name="vendor" value={price.vendor} autocomplete="off" />
            <input type="hidden" name="ref" value={price.ref} autocomplete="off" />
          </>
        )}
        <PlanInputs sent={sent} />
        <FeatureInputs sent={sent} catalog={catalog} />
        <p class="hint">
          {price ? <>You add {price.ref} in the next step</> : 'You add prices in the next step'}, and see who gets the
          plan with them.
        </p>
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
  { entered = openedFor(plan, catalog), mistakes, status }: Sent,
) {
  const sent = { entered, mistakes }
  const path = `${pathsOf(c).plans}/${plan.id}`
  return show(
    c,
    { title: 'Edit plan', section: 'plans', above: [plan.name, path], status },
    <>
      <Head title="Edit plan" />
      <Post c={c} to={`${path}/edit`} class="form">
        <FromField c={c} />
        <input type="hidden" name="etag" value={etag} autocomplete="off" />
        <Wrong>{mistakes.form}</Wrong>
        <PlanInputs sent={sent} />
        <FeatureInputs sent={sent} catalog={catalog} />
        <PriceFields sent={sent} />
        <SubmitOrCancel label="Review change" back={path} />
      </Post>
    </>,
  )
}
