import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { page } from '../../page'

/** Addresses above pages that are not pages themselves, and how many segments above them a page is. */
const ABOVE: [path: string, segments: number][] = [
  ['/projects', 1],
  ['/p', 1],
  ['/invitations', 1],
  ['/passkeys/:id', 1],
  ['/p/:project/platform/settings/members/:user', 1],
  ['/p/:project/platform/settings/members/invitations/:id', 1],
  ['/p/:project/platform/settings/sso/:connection/tests', 1],
  ['/p/:project/platform/webhook-endpoints/:id/secrets', 1],
  ['/p/:project/platform/webhook-endpoints/:id/secrets/:secret', 2],
  ['/p/:project/platform/billing/connections/:id/api-key', 1],
  ['/p/:project/platform/billing/connections/:id/secrets', 1],
  ['/p/:project/platform/billing/connections/:id/refusals', 1],
  ['/p/:project/platform/billing/connections/:id/refusals/:code', 2],
  ['/p/:project/platform/billing/connections/:id/endpoint', 1],
  ['/p/:project/platform/billing/connections/:id/endpoint/check', 2],
  ['/p/:project/platform/billing/connections/:id/verification/try', 1],
  ['/p/:project/platform/billing/connections/:id/secrets/:secret', 2],
  ['/p/:project/platform/billing/webhooks/failures/:connection', 2],
  ['/p/:project/platform/billing/webhooks/failures/:connection/:code', 3],
  ['/p/:project/platform/consumers/:consumer/devices', 1],
  ['/p/:project/platform/consumers/:consumer/devices/:device', 2],
  ['/p/:project/platform/consumers/:consumer/identities', 1],
  ['/p/:project/platform/consumers/:consumer/identities/:identity', 2],
  ['/p/:project/platform/consumers/:consumer/grants/:grant', 1],
  ['/p/:project/platform/billing/features/:key', 1],
  ['/p/:project/platform/billing/customers', 1],
  ['/p/:project/platform/billing/customers/:vendor', 2],
]

/** Leads whoever shortens an address to the next page above it. These routes come after all pages. */
export const abovePages = new Hono<HttpEnv>()

for (const [path, segments] of ABOVE) {
  abovePages.get(path, page('user'), (c) => {
    // As it was sent: a decoded one can have characters that no header may have.
    const { pathname } = new URL(c.req.url)
    return c.redirect(pathname.split('/').slice(0, -segments).join('/'), 303)
  })
}
