import { type Context, Hono } from 'hono'
import type { HttpEnv } from '../http/context'
import { errorPage, missingPage } from './errors'
import { pageHeaders } from './headers'
import { apiKeyPages } from './pages/api-keys/routes'
import { auditPages } from './pages/audit-log/routes'
import { billingPages } from './pages/billing/routes'
import { connectionPages } from './pages/connections/routes'
import { eventPages } from './pages/events/routes'
import { healthPages } from './pages/health/routes'
import { projectPages } from './pages/projects/routes'
import { referencePages } from './pages/reference/routes'
import { replayPages } from './pages/replays/routes'
import { sessionPages } from './pages/sessions/routes'
import { linkPages, signInPages } from './pages/sign-in/routes'

/** The web console: pages over the same stores and rules as the API. */
export const consoleRoutes = new Hono<HttpEnv>()
  .use(pageHeaders)
  .route('/', signInPages)
  .route('/', projectPages)
  .route('/sessions', sessionPages)
  .route('/p/:project/platform/settings/api-keys', apiKeyPages)
  .route('/p/:project/platform/settings/audit-log', auditPages)
  .route('/p/:project/platform/billing/connections', connectionPages)
  // These come before the page of an event, whose path `/:event` would match them.
  .route('/p/:project/platform/billing/webhooks/health', healthPages)
  .route('/p/:project/platform/billing/webhooks', replayPages)
  .route('/p/:project/platform/billing/webhooks', eventPages)
  .route('/p/:project/platform/billing', billingPages)
  .route('/', referencePages)
  .all('*', missingPage)

/** The pages behind the link in a sign-in email. */
export const linkRoutes = new Hono<HttpEnv>().use('/sign-in', pageHeaders).route('/', linkPages)

for (const pages of [consoleRoutes, linkRoutes]) pages.onError((error, c: Context<HttpEnv>) => errorPage(c, error))
