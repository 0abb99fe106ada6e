import { type Context, Hono } from 'hono'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { route } from '../../http/route'
import { body } from '../../http/validate'
import { ingestUrl } from '../connections/present'
import { checkWhenAsked } from './check'
import { presentCheck, presentEndpoint, presentFindings, SetUpBody, SetUpShown, VendorEndpointShown } from './fields'
import { VENDORS_WITH_ENDPOINTS } from './open'
import { setUpEndpoint } from './set-up'

const tag = 'Billing connections'
const actors = ['session', 'api_key'] as const

export const vendorEndpointRoutes = new Hono<HttpEnv>()
  .post(
    '/:id/endpoint',
    route({
      id: 'setUpVendorEndpoint',
      summary: 'Create or repair the webhook endpoint at the vendor',
      description: `Creates a webhook endpoint with the ingest URL in the vendor's account, and stores its signing secret. If this service has already created one, or the connection has the secret of one, the call repairs it: it corrects the address and the event types, and enables it. Other endpoints stay as they are. Repeating the call changes nothing. This works at ${VENDORS_WITH_ENDPOINTS}.`,
      tag,
      policy: { actors, scope: 'connections:write', project: true, costly: true },
      responses: { 200: { description: 'What was done, and the endpoint as it is now.', schema: SetUpShown } },
      faults: [
        'not_found',
        'vendor_endpoint_unsupported',
        'vendor_endpoint_limit',
        'secret_limit_reached',
        'connection_changed',
        'api_key_invalid',
        'api_key_too_powerful',
        'api_key_other_mode',
        'api_key_lacks_permission',
        'ingest_url_not_public',
        'vendor_failed',
        'encryption_key_unavailable',
      ],
    }),
    body(SetUpBody),
    async (c) => {
      const of = placeOf(c)
      const asked = { ...c.req.valid('json'), url: ingestUrl(c, of.connection_id) }
      const { did, facts, findings, vendor } = await setUpEndpoint(c.get('rt'), of, asked, changeOf(c))
      return answer(c, { did, endpoint: presentEndpoint(facts), findings: presentFindings(findings, vendor) }, 200)
    },
  )
  .get(
    '/:id/endpoint',
    route({
      id: 'checkVendorEndpoint',
      summary: 'Check the webhook endpoint at the vendor',
      description:
        'Queries the vendor with the API key of the connection. The service also does this once a day, and health shows what is wrong.',
      tag,
      policy: { actors, scope: 'connections:read', project: true, costly: true },
      responses: { 200: { description: 'The endpoint, and what is wrong with it.', schema: VendorEndpointShown } },
      faults: [
        'not_found',
        'vendor_endpoint_unsupported',
        'api_key_missing',
        'api_key_lacks_permission',
        'ingest_url_not_public',
        'vendor_failed',
        'encryption_key_unavailable',
      ],
    }),
    async (c) => {
      const of = placeOf(c)
      const rt = c.get('rt')
      return answer(c, presentCheck(await checkWhenAsked(rt, of, ingestUrl(c, of.connection_id)), rt.now), 200)
    },
  )

function placeOf(c: Context<HttpEnv, '/:id/endpoint'>) {
  return { project_id: projectOf(c.get('actor')), connection_id: c.req.param('id') }
}
