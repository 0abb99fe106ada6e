import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { catalogKey } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { KEY_RULE } from '../lib/catalog-key'
import { malformedInPath, notFound } from '../lib/fault'
import { deleteFeature, listFeatures, putFeature } from './features'
import { FeatureShown, PutFeatureBody, presentFeature } from './fields'
import { MAX_FEATURES } from './limits'

const tag = 'Catalog'
const actors = ['session', 'api_key'] as const
const mayRead = { actors, scope: 'catalog:read', project: true, reads: true } as const
const mayWrite = { actors, scope: 'catalog:write', project: true } as const

export const featureRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'listFeatures',
      summary: 'List the features of the catalog',
      description: 'Sorted by key.',
      tag,
      policy: mayRead,
      responses: { 200: { description: 'A page of features.', schema: listOf(FeatureShown) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const list = paging('features', c.req.valid('query'), ({ key }: { key: string }) => key)
      const { rows } = await read(c, { rows: listFeatures(c.get('rt').db, projectOf(c.get('actor')), list) })
      return answer(c, list.page(rows, presentFeature), 200)
    },
  )
  .put(
    '/:key',
    route({
      id: 'putFeature',
      summary: 'Create or change a feature',
      description: `The key and the type of a feature cannot change. You can repeat the call. A project can have ${MAX_FEATURES} features.`,
      tag,
      policy: mayWrite,
      responses: {
        200: { description: 'The feature already existed.', schema: FeatureShown },
        201: { description: 'The feature is new.', schema: FeatureShown },
      },
      faults: ['feature_type_fixed', 'feature_limit_reached'],
    }),
    body(PutFeatureBody),
    async (c) => {
      const key = c.req.param('key')
      if (!catalogKey.safeParse(key).success) throw malformedInPath('key', KEY_RULE)
      const of = { project_id: projectOf(c.get('actor')), key }
      const { feature, created } = await putFeature(c.get('rt').db, of, c.req.valid('json'), changeOf(c))
      return answer(c, presentFeature(feature), created ? 201 : 200)
    },
  )
  .delete(
    '/:key',
    route({
      id: 'deleteFeature',
      summary: 'Delete a feature',
      description: 'A feature can only be deleted if no plan and no live grant includes it.',
      tag,
      policy: mayWrite,
      responses: { 204: { description: 'Deleted.' } },
      faults: ['not_found', 'feature_in_use'],
    }),
    async (c) => {
      const key = c.req.param('key')
      if (!catalogKey.safeParse(key).success) throw notFound('Feature')
      await deleteFeature(c.get('rt').db, { project_id: projectOf(c.get('actor')), key }, changeOf(c))
      return answer(c, null, 204)
    },
  )
