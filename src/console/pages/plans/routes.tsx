import { Hono } from 'hono'
import * as z from 'zod'
import { amountsOfPrices } from '../../../catalog/amounts'
import { createPlan, type PlanFields, updatePlan } from '../../../catalog/change'
import { planFieldsOf } from '../../../catalog/fields'
import { listPlans, mappedPrices, namePlans, type Price, plansOnPage } from '../../../catalog/plans'
import { countByPlan, unmappedPrices } from '../../../catalog/sold'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { etagOf, requireMatch } from '../../../http/etag'
import { paging } from '../../../http/page'
import { findSettings } from '../../../tenancy/project'
import { VendorField } from '../../../vendors/field'
import { isId } from '../../../vendors/lib/read'
import { action, leadTo } from '../../action'
import { backTo, fromOf } from '../../from'
import { pageAsked } from '../../list'
import { can, page, pathsOf, type Visit } from '../../page'
import { EXPLAINED, UNSENT } from '../../refusal'
import { blankFor, CHANGED_PLAN, featuresIn, openedFor, PLAN } from './fields'
import { createPage, editPage } from './form'
import { listPage } from './list'
import { planPage } from './plan'
import {
  amountsIn,
  readCatalog,
  readForNew,
  readHistory,
  readPlan,
  readPreview,
  readSold,
  requireFreePrices,
  subscriptionsIn,
} from './read'
import { reviewPage } from './review'
import { choosePlanPage } from './unmapped'

const create = action({
  at: '/new',
  posts: '/',
  needs: 'catalog:write',
  read: readForNew,
  ask: (c, of, sent) => createPage(c, of, { ...sent, entered: sent.entered ?? blankFor(priceIn(c)) }),
  run: async (c) => {
    const body = PLAN.body(c.get('form'), { features: featuresIn(c.get('form'), await readCatalog(c)) })
    return createPlan(c.get('rt'), projectOf(c.get('actor')), planFieldsOf(body) as PlanFields, changeOf(c))
  },
  done: (c, { id }) => {
    const to = `${pathsOf(c).plans}/${id}`
    const edit = new URLSearchParams(c.get('form').get('price') ?? '')
    if (edit.size === 0) return [backTo(c, to), 'plan_created']
    const from = fromOf(c)
    if (from !== null) edit.set('from', from)
    return [`${to}/edit?${edit}`, 'plan_created']
  },
})

/** The form leads to a review, back from it, to more of it, and at last to a change. */
const edit = action({
  at: '/:plan/edit',
  needs: 'catalog:write',
  counted: { costly: true }, // for the review
  read: readPlan,
  ask: (c, of, sent) => {
    // Only a user who was told of a change in between goes on from the plan as it is now.
    const seen = sent.mistakes.form === undefined ? sent.entered?.get('etag') : null
    const entered = sent.entered ?? openedFor(of.plan, of.catalog, priceIn(c))
    return editPage(c, of, seen ?? etagOf(of.plan.revision), { ...sent, entered })
  },
  run: async (c) => {
    const form = c.get('form')
    const etag = form.get('etag') ?? ''
    const step = form.get('step')
    const { plan, catalog, testModeCounts } = await readPlan(c)
    if (step === 'edit') return editPage(c, { plan, catalog }, etag, { ...UNSENT, entered: form })
    const wanted = planFieldsOf(CHANGED_PLAN.body(form, { features: featuresIn(form, catalog) })) as PlanFields
    if (step === 'save') {
      const of = { project_id: projectOf(c.get('actor')), id: plan.id }
      await updatePlan(c.get('rt').db, of, { fields: wanted, ifMatch: etag }, changeOf(c))
      return leadTo(c, backTo(c, `${pathsOf(c).plans}/${plan.id}`), 'plan_changed')
    }
    requireMatch(etag, plan.revision, 'plan')
    const cursor = step === 'continue' ? (form.get('cursor') ?? undefined) : undefined
    const reviewed = { ...wanted, prices: [...wanted.prices] }
    const [preview] = await Promise.all([
      readPreview(c, plan, reviewed, cursor),
      requireFreePrices(c, plan, wanted.prices),
    ])
    return reviewPage(c, { plan, catalog, wanted: reviewed, preview, continued: cursor !== undefined, testModeCounts })
  },
  done: (_, response) => response,
  explains: EXPLAINED.plan,
})

/** The plans of the catalog: list, create, look at, change after a review. */
export const planPages = new Hono<HttpEnv>()
  .get('/', page('catalog:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const list = paging('console/plans', pageAsked(c))
    const { rows, refs, unmapped, settings, costs, counted } = await batch(db, {
      rows: listPlans(db, project, list),
      refs: mappedPrices(db, project),
      unmapped: unmappedPrices(db, project),
      settings: findSettings(db, project),
      costs: amountsOfPrices(db, project),
      counted: countByPlan(db, project),
    })
    const [plans, fitting] = plansOnPage(rows, refs)
    const shown = list.page(plans, (row) => row, fitting)
    const defaultPlan = settings[0]?.settings?.default_plan ?? null
    const seesBilling = can(c, 'billing:read')
    return listPage(c, shown, {
      unmapped: seesBilling ? unmapped : null,
      defaultPlan,
      amounts: amountsIn(c, costs),
      subscriptions: subscriptionsIn(c, counted),
    })
  })
  .route('/', create)
  .get('/add', page('catalog:write'), async (c) => {
    const { db } = c.get('rt')
    const price = priceIn(c)
    if (price === null) return c.redirect(pathsOf(c).plans, 303)
    return choosePlanPage(c, price, await run(db, namePlans(db, projectOf(c.get('actor')))))
  })
  .get('/:plan', page('catalog:read'), async (c) => {
    const found = await readPlan(c)
    const [history, sold] = await Promise.all([readHistory(c, found.plan, found.catalog), readSold(c)])
    return planPage(c, { ...found, history, ...sold })
  })
  .route('/', edit)

const AskedPrice = z.object({ vendor: VendorField, ref: z.string().min(1).refine(isId) })

/** The price that an address names, to add it to a plan; null if it names none. */
function priceIn(c: Visit): Price | null {
  return AskedPrice.safeParse(c.req.query()).data ?? null
}
