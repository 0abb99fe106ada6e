import { Hono } from 'hono'
import { answer } from '../http/answer'
import { inRoom, sendInRoom } from '../http/answering'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { requireScopes } from '../http/policy'
import { read } from '../http/read'
import { route } from '../http/route'
import { body } from '../http/validate'
import { CatalogBody, CatalogShown, CatalogWritten, requireSizes } from './document'
import { MAX_CATALOG_BODY_BYTES, MAX_CATALOG_BYTES, MAX_GRANTS_WALKED } from './limits'
import { presentCatalog, presentWrites } from './present'
import { putCatalog } from './put'
import { catalogIn, catalogOf } from './state'

const tag = 'Catalog'
const actors = ['session', 'api_key'] as const

export const catalogRoutes = new Hono<HttpEnv>()
  .get(
    '/',
    route({
      id: 'getCatalog',
      summary: 'Get the whole catalog',
      description:
        'All features and plans, by their keys, and the settings of the project that belong to what it sells, from one moment.',
      tag,
      policy: { actors, scope: 'catalog:read', project: true, reads: true, costly: true },
      responses: { 200: { description: 'The catalog.', schema: CatalogShown, etag: true } },
      faults: ['payload_too_large'],
    }),
    (c) =>
      sendInRoom(c, MAX_CATALOG_BYTES, async () => {
        const state = await catalogIn(await read(c, catalogOf(c.get('rt').db, projectOf(c.get('actor')))))
        c.header('ETag', `"${state.version}"`)
        return answer(c, presentCatalog(state), 200)
      }),
  )
  .put(
    '/',
    route({
      id: 'putCatalog',
      summary: 'Replace the whole catalog',
      description: `Makes the catalog what the document says, in one transaction: everything is written, or nothing. It takes effect at once for all consumers. Features that are left out are deleted. If a live grant or the setting \`devices_feature\` names one of them, the call gets 409 and writes nothing. A plan cannot be left out. A setting that is left out stays as it is. A change of one requires the scope \`projects:write\` too. A price can move from one plan to another. What is the same already is not written. Before a feature is deleted, the call reads the grants of the project, ${MAX_GRANTS_WALKED.toLocaleString('en')} at a time.`,
      tag,
      policy: { actors, scope: 'catalog:write', project: true, costly: true },
      headers: { 'If-Match': 'An `ETag` of the catalog. If the catalog has changed since, nothing is written: 412.' },
      responses: { 200: { description: 'What was written.', schema: CatalogWritten, etag: true } },
      faults: [
        'feature_type_fixed',
        'feature_in_use',
        'plan_is_default',
        'catalog_limit_reached',
        'precondition_failed',
        'encryption_key_unavailable',
      ],
    }),
    body(CatalogBody, MAX_CATALOG_BODY_BYTES, requireSizes),
    async (c) => {
      const rt = c.get('rt')
      const actor = c.get('actor')
      const project = projectOf(actor)
      const requireMay = (settings: string[]) => {
        const what = `A change of the settings ${settings.join(', ')}`
        if (settings.length > 0) requireScopes(actor, ['projects:write'], what)
      }
      const wanted = { document: c.req.valid('json'), ifMatch: c.req.header('If-Match'), requireMay }
      const put = () => putCatalog(rt, project, wanted, changeOf(c))
      const { version, writes } = await inRoom(rt, project, MAX_CATALOG_BYTES, put)
      c.header('ETag', `"${version}"`)
      return answer(c, { version, writes: presentWrites(writes) }, 200)
    },
  )
