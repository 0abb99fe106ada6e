import { Hono } from 'hono'
import * as z from 'zod'
import { CatalogBody, requireSizes } from '../catalog/document'
import { MAX_CATALOG_BODY_BYTES } from '../catalog/limits'
import { presentWrites } from '../catalog/present'
import type { Queries } from '../db/client'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { pageFields } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { previewCatalog } from './catalog-preview'
import { MAX_WALKED } from './limits'
import { CatalogPreview } from './preview-fields'

export const catalogPreviewRoutes = new Hono<HttpEnv>().post(
  '/preview',
  route({
    id: 'previewCatalog',
    summary: 'Preview a whole catalog',
    description: `What a PUT of this document would write, and who would gain and who would lose by all of it together. It writes nothing, and refuses what the PUT would refuse, except a feature to be deleted that a grant includes. New features do not count, because nobody has them. One call looks at up to ${MAX_WALKED} subscriptions, as many purchases and as many grants. If the default plan changes, or a setting that decides about entitlements, it also looks at consumers.`,
    tag: 'Catalog',
    policy: { actors: ['session', 'api_key'], scope: 'catalog:read', project: true, reads: true, costly: true },
    responses: { 200: { description: 'What would change.', schema: CatalogPreview } },
    faults: ['feature_type_fixed', 'feature_in_use', 'plan_is_default', 'catalog_limit_reached', 'invalid_cursor'],
  }),
  query(z.strictObject({ cursor: pageFields.cursor })),
  body(CatalogBody, MAX_CATALOG_BODY_BYTES, requireSizes),
  async (c) => {
    const by = { rt: c.get('rt'), ask: <Q extends Queries>(queries: Q) => read(c, queries) }
    const { cursor } = c.req.valid('query')
    const { writes, ...preview } = await previewCatalog(by, projectOf(c.get('actor')), c.req.valid('json'), cursor)
    return answer(c, { ...preview, writes: presentWrites(writes) }, 200)
  },
)
