import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { createPlan, type PlanFields, updatePlan } from '../../../catalog/change'
import { CreatePlanBody, planFieldsOf, UpdatePlanBody } from '../../../catalog/fields'
import { MAX_PLANS } from '../../../catalog/limits'
import { listPlans, mappedPrices, type Price, unmappedPrices, withPrices } from '../../../catalog/plans'
import { batch, run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { requireMatch } from '../../../http/etag'
import { paging } from '../../../http/page'
import { VendorField } from '../../../vendors/field'
import { isId } from '../../../vendors/lib/read'
import { pageAsked } from '../../list'
import { can, page, pathsOf } from '../../page'
import { parse } from '../../refusal'
import { choosePage } from './choose'
import { BLANK, bodyIn, enteredFrom, enteredIn, withPrice } from './entered'
import { createPage, editPage } from './form'
import { listPage } from './list'
import { planPage } from './plan'
import { readCatalog, readHistory, readPlan, readPreview, requireFreePrices } from './read'
import { refusedBecause } from './refusal'
import { reviewPage } from './review'

/** The plans of the catalog: list, create, look at, change after a review. */
export const planPages = new Hono<HttpEnv>()
  .get('/', page('catalog:read'), async (c) => {
    const { db } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const list = paging('console/plans', pageAsked(c))
    const { rows, refs, unmapped } = await batch(db, {
      rows: listPlans(db, project, list),
      refs: mappedPrices(db, project),
      unmapped: unmappedPrices(db, project),
    })
    return listPage(
      c,
      list.page(withPrices(rows, refs), (row) => row),
      can(c, 'billing:read') ? unmapped : null,
    )
  })
  .get('/new', page('catalog:write'), async (c) =>
    createPage(c, { catalog: await readCatalog(c), entered: BLANK, price: priceIn(c) }),
  )
  .post('/', page('catalog:write'), async (c) => {
    const catalog = await readCatalog(c)
    const entered = enteredIn(c.get('form'))
    const { prices, ...own } = entered
    try {
      const body = parse(CreatePlanBody, bodyIn({ ...own, prices: [] }, catalog))
      const { id } = await createPlan(
        c.get('rt'),
        projectOf(c.get('actor')),
        planFieldsOf(body) as PlanFields,
        changeOf(c),
      )
      const to = `${pathsOf(c).plans}/${id}`
      const [price] = prices
      return c.redirect(
        price ? `${to}/edit?${new URLSearchParams({ ...price, done: 'plan_created' })}` : `${to}?done=plan_created`,
        303,
      )
    } catch (error) {
      return createPage(c, { catalog, entered, price: prices[0] ?? null }, refusedBecause(error))
    }
  })
  .get('/add', page('catalog:write'), async (c) => {
    const { db } = c.get('rt')
    const price = priceIn(c)
    if (price === null) return c.redirect(pathsOf(c).plans, 303)
    const rows = await run(db, listPlans(db, projectOf(c.get('actor')), { before: null, take: MAX_PLANS }))
    return choosePage(c, price, withPrices(rows, []))
  })
  .get('/:plan', page('catalog:read'), async (c) => {
    const found = await readPlan(c)
    return planPage(c, { ...found, history: await readHistory(c, found.plan) })
  })
  .get('/:plan/edit', page('catalog:write'), async (c) => {
    const { plan, catalog } = await readPlan(c)
    return editPage(c, plan, { catalog, entered: withPrice(enteredFrom(plan, catalog), priceIn(c)) })
  })
  .post('/:plan/edit', page('catalog:write'), async (c) => {
    const form = c.get('form')
    const entered = enteredIn(form)
    const etag = form.get('etag') ?? ''
    const step = form.get('step')
    const { plan, catalog } = await readPlan(c)
    if (step === 'edit') return editPage(c, plan, { catalog, entered, etag })
    try {
      const body = bodyIn(entered, catalog)
      const wanted = planFieldsOf(parse(UpdatePlanBody, body)) as PlanFields
      if (step === 'save') {
        const of = { project_id: projectOf(c.get('actor')), id: plan.id }
        await updatePlan(c.get('rt').db, of, { fields: wanted, ifMatch: etag }, changeOf(c))
        return c.redirect(`${pathsOf(c).plans}/${plan.id}?done=plan_changed`, 303)
      }
      requireMatch(etag, plan.revision, 'plan')
      await requireFreePrices(c, plan, wanted.prices)
      const cursor = step === 'continue' ? (form.get('cursor') ?? undefined) : undefined
      const reviewed = { ...wanted, prices: [...wanted.prices] }
      const preview = await readPreview(c, plan, reviewed, cursor)
      return reviewPage(c, { plan, catalog, wanted: reviewed, preview, continued: cursor !== undefined })
    } catch (error) {
      const refusal = refusedBecause(error)
      // Only a user who was told of a change in between goes on from the plan as it is now.
      return editPage(c, plan, { catalog, entered, etag: refusal.mistakes.form ? undefined : etag }, refusal)
    }
  })

const AskedPrice = z.object({ vendor: VendorField, ref: z.string().min(1).refine(isId) })

/** The price that an address names, to add it to a plan; null if it names none. */
function priceIn(c: Context<HttpEnv>): Price | null {
  return AskedPrice.safeParse(c.req.query()).data ?? null
}
