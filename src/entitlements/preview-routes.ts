import { Hono } from 'hono'
import { PreviewPlanBody, planFieldsOf } from '../catalog/fields'
import type { Queries } from '../db/client'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { read } from '../http/read'
import { route } from '../http/route'
import { body } from '../http/validate'
import { MAX_WALKED } from './limits'
import { previewPlan } from './preview'
import { PlanPreview } from './preview-fields'

export const previewRoutes = new Hono<HttpEnv>().post(
  '/:id/preview',
  route({
    id: 'previewPlan',
    summary: 'Preview a change of a plan',
    description: `Shows who would gain and who would lose access by a change to a plan. It takes the fields of the change and writes nothing. One call looks at up to ${MAX_WALKED} subscriptions, as many purchases and as many grants. If the plan is the default plan, it also looks at consumers. A price that another plan has is previewed as if it moved to this plan; the change itself is refused until the other plan gives it up.`,
    tag: 'Catalog',
    policy: { actors: ['session', 'api_key'], scope: 'catalog:read', project: true, reads: true, costly: true },
    responses: { 200: { description: 'What would change.', schema: PlanPreview } },
    faults: ['not_found', 'invalid_cursor'],
  }),
  body(PreviewPlanBody),
  async (c) => {
    const { cursor, ...sent } = c.req.valid('json')
    const of = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
    const by = { rt: c.get('rt'), ask: <Q extends Queries>(queries: Q) => read(c, queries) }
    const preview = await previewPlan(by, of, planFieldsOf(sent), cursor)
    return answer(c, preview, 200)
  },
)
