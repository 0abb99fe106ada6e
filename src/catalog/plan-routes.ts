import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { answer, tagged, taggedWith } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { createPlan, type PlanFields, updatePlan } from './change'
import {
  CreatePlanBody,
  PlanShown,
  planFieldsOf,
  presentPlan,
  presentUnmapped,
  UnmappedPrices,
  UpdatePlanBody,
} from './fields'
import { MAX_CATALOG_BYTES, MAX_PLANS, MAX_UNMAPPED, NEWEST_SUBSCRIPTIONS } from './limits'
import { findPlan, listPlans, mappedPrices, plansOnPage, withPrices } from './plans'
import { unmappedPrices } from './sold'

const tag = 'Catalog'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'catalog:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'catalog:write', project: true } as const

export const planRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'createPlan',
      summary: 'Create a plan',
      description: `The features must be in the catalog, and the values must fit their types. A price or a product belongs to one plan. A project can have ${MAX_PLANS} plans, archived ones included. The features of all plans together can take ${MAX_CATALOG_BYTES.toLocaleString('en')} bytes as JSON.`,
      tag,
      policy: mayWrite,
      responses: { 201: taggedWith(PlanShown, 'The plan.') },
      faults: [
        'plan_key_taken',
        'price_mapped',
        'plan_limit_reached',
        'catalog_limit_reached',
        'encryption_key_unavailable',
      ],
      repeated: async (c, { object_id }) => {
        const plan = await readPlan(c, object_id)
        return answer(c, tagged(c, plan, presentPlan(plan)), 201)
      },
    }),
    body(CreatePlanBody),
    async (c) => {
      const fields = planFieldsOf(c.req.valid('json')) as PlanFields
      const plan = await createPlan(c.get('rt'), projectOf(c.get('actor')), fields, changeOf(c))
      return answer(c, tagged(c, plan, presentPlan(plan)), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listPlans',
      summary: 'List the plans of the catalog',
      description: 'Newest first, including archived plans. A page can end early if its plans are large.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of plans.', schema: listOf(PlanShown) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { db } = c.get('rt')
      const project = projectOf(c.get('actor'))
      const list = paging('plans', c.req.valid('query'))
      const { rows, refs } = await read(c, { rows: listPlans(db, project, list), refs: mappedPrices(db, project) })
      const [plans, fitting] = plansOnPage(rows, refs)
      return answer(c, list.page(plans, presentPlan, fitting), 200)
    },
  )
  .get(
    '/unmapped-prices',
    route({
      id: 'listUnmappedPrices',
      summary: 'List the prices that no plan has',
      description: `Up to ${MAX_UNMAPPED} prices, or products, of the ${NEWEST_SUBSCRIPTIONS.toLocaleString('en')} subscriptions, and as many purchases, that changed last, or of fewer if they are large. A customer who pays for one of them gets no features. An import reads the names of prices and products from the vendor.`,
      tag,
      policy: { ...mayRead, scope: 'billing:read' },
      responses: { 200: { description: 'The prices without a plan.', schema: UnmappedPrices } },
    }),
    async (c) => {
      const { rows } = await read(c, { rows: unmappedPrices(c.get('rt').db, projectOf(c.get('actor'))) })
      return answer(c, presentUnmapped(rows), 200)
    },
  )
  .get(
    '/:id',
    route({
      id: 'getPlan',
      summary: 'Get a plan',
      description: 'With its features and prices.',
      tag,
      policy: mayRead,
      responses: { 200: taggedWith(PlanShown, 'The plan.') },
      faults: ['not_found'],
    }),
    async (c) => {
      const plan = await readPlan(c, c.req.param('id'))
      return answer(c, tagged(c, plan, presentPlan(plan)), 200)
    },
  )
  .patch(
    '/:id',
    route({
      id: 'updatePlan',
      summary: 'Change a plan',
      description:
        'The change takes effect at once for all consumers who have the plan. Fields that you leave out stay as they are. `features` and `prices` are replaced as a whole. The same values again change nothing.',
      tag,
      policy: mayWrite,
      headers: { 'If-Match': 'An `ETag` of the plan. If the plan has changed since, nothing is written: 412.' },
      responses: { 200: taggedWith(PlanShown, 'The plan.') },
      faults: [
        'not_found',
        'plan_key_taken',
        'price_mapped',
        'plan_is_default',
        'catalog_limit_reached',
        'precondition_failed',
      ],
    }),
    body(UpdatePlanBody),
    async (c) => {
      const of = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
      const wanted = { fields: planFieldsOf(c.req.valid('json')), ifMatch: c.req.header('If-Match') }
      const plan = await updatePlan(c.get('rt').db, of, wanted, changeOf(c))
      return answer(c, tagged(c, plan, presentPlan(plan)), 200)
    },
  )

async function readPlan(c: Context<HttpEnv>, id: string) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { rows, refs } = await read(c, { rows: findPlan(db, project, id), refs: mappedPrices(db, project, id) })
  return requireFound(withPrices(rows, refs), 'Plan')
}
