import { Hono } from 'hono'
import { noObject } from '../../billing/names'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { route } from '../../http/route'
import { iso } from '../../lib/time'
import { vendorOf } from '../../vendors'
import { isIdOf } from '../vendor-api/fetch-vendor'
import { presentRefreshed, RefreshedAt } from './fields'
import { REFRESH_WITHIN_MS } from './limits'
import { countRefresh } from './rate'
import { refreshCustomer } from './refresh'

/** `POST /:vendor/:id/refresh`: mounted beside the route that reads the customer. */
export const customerRefreshRoutes = new Hono<HttpEnv>().post(
  '/:vendor/:id/refresh',
  route({
    id: 'refreshCustomer',
    summary: 'Refresh a customer from the vendor',
    description: `Reads the customer, its subscriptions and its newest invoices from the vendor's API, with the API key of a connection, and applies what is new. It answers within ${REFRESH_WITHIN_MS / 1000} s, even if the vendor does not: see \`state\`. If several calls refresh the same customer at once, only one of them asks the vendor.`,
    tag: 'Billing state',
    policy: { actors: ['session', 'api_key'], scope: 'billing:write', project: true },
    responses: { 200: { description: 'How current the answer is.', schema: RefreshedAt } },
    faults: ['not_found', 'consumer_erased', 'api_key_missing', 'encryption_key_unavailable', 'rate_limited'],
  }),
  async (c) => {
    const rt = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { vendor, id } = c.req.param()
    // No vendor of ours has such an id, so there is nobody to ask.
    const known = vendorOf(vendor)
    if (!known || !isIdOf(known.api ?? {}, id)) throw noObject('customer')
    await countRefresh(rt, project)
    const refreshed = await refreshCustomer(rt, project, { vendor, id })
    return answer(c, { as_of: iso(Date.now()), ...presentRefreshed(refreshed) }, 200)
  },
)
