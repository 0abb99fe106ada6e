import type { Context } from 'hono'
import type { Feature } from '../../../catalog/features'
import type { Plan, Price } from '../../../catalog/plans'
import type { HttpEnv } from '../../../http/context'
import { etagOf } from '../../../http/etag'
import { pathsOf } from '../../page'
import { UNSENT } from '../../refusal'
import { Post, SubmitOrCancel, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import type { Entered } from './entered'
import { FeatureFields, PlanFields, PriceFields } from './fields'

type Form = {
  catalog: readonly Feature[]
  entered: Entered
  /** The price that the new plan is for, if it is made for one. */
  price?: Price | null
}

/**
 * The form of a new plan. It maps no prices: nobody has the plan yet, and who gets it with a price is shown by the review of
 * a change.
 */
export function createPage(c: Context<HttpEnv>, { catalog, entered, price }: Form, { mistakes, status } = UNSENT) {
  const { plans } = pathsOf(c)
  return show(
    c,
    { title: 'New plan', section: 'plans', above: ['Plans', plans], status },
    <>
      <Head title="New plan" />
      <Post c={c} to={plans} class="form once">
        <Wrong>{mistakes.form}</Wrong>
        {price && (
          <>
            <input type="hidden" name="vendor" value={price.vendor} autocomplete="off" />
            <input type="hidden" name="ref" value={price.ref} autocomplete="off" />
          </>
        )}
        <PlanFields entered={entered} mistakes={mistakes} />
        <FeatureFields entered={entered} mistakes={mistakes} catalog={catalog} />
        <p class="hint">
          {price ? <>You add {price.ref} in the next step</> : 'You add prices in the next step'}, and see who gets the
          plan with them.
        </p>
        <SubmitOrCancel label="Create plan" back={plans} />
      </Post>
    </>,
  )
}

/**
 * The form that changes a plan. It leads to the review of the change.
 *
 * @param etag of the plan that the user has seen, if that is not this one
 */
export function editPage(
  c: Context<HttpEnv>,
  plan: Plan,
  { catalog, entered, etag = etagOf(plan.revision) }: Form & { etag?: string | undefined },
  { mistakes, status } = UNSENT,
) {
  const path = `${pathsOf(c).plans}/${plan.id}`
  return show(
    c,
    { title: 'Edit plan', section: 'plans', above: [plan.name, path], status },
    <>
      <Head title="Edit plan" />
      <Post c={c} to={`${path}/edit`} class="form">
        <input type="hidden" name="etag" value={etag} autocomplete="off" />
        <Wrong>{mistakes.form}</Wrong>
        <PlanFields entered={entered} mistakes={mistakes} />
        <FeatureFields entered={entered} mistakes={mistakes} catalog={catalog} />
        <PriceFields entered={entered} mistakes={mistakes} />
        <SubmitOrCancel label="Review change" back={path} />
      </Post>
    </>,
  )
}
