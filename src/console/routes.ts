import type { Context } from 'hono'
import { Hono } from 'hono/tiny'
import type { HttpEnv } from '../http/context'
import { apiKeyPages } from './api-keys'
import { billingPages } from './billing'
import { connectionPages } from './connections'
import { errorPage, missingPage } from './errors'
import { onePages } from './event'
import { eventPages } from './events'
import { pageHeaders } from './headers'
import { healthPages } from './health'
import { projectPages } from './projects'
import { referencePages } from './reference'
import { replayPages } from './replays'
import { sessionPages } from './sessions'
import { linkPages, signInPages } from './sign-in'

/** The web console: pages over the same stores and rules as the API. */
export const consoleRoutes = new Hono<HttpEnv>()
  .use(pageHeaders)
  .route('/', signInPages)
  .route('/', projectPages)
  .route('/sessions', sessionPages)
  .route('/p/:project/platform/settings/api-keys', apiKeyPages)
  .route('/p/:project/platform/billing/connections', connectionPages)
  .route('/p/:project/platform/billing/webhooks/health', healthPages)
  .route('/p/:project/platform/billing/webhooks', eventPages)
  .route('/p/:project/platform/billing/webhooks', replayPages)
  .route('/p/:project/platform/billing/webhooks', onePages)
  .route('/p/:project/platform/billing', billingPages)
  .route('/', referencePages)
  .all('*', missingPage)

/** Where the link of a sign-in mail leads. */
export const linkRoutes = new Hono<HttpEnv>().use('/sign-in', pageHeaders).route('/', linkPages)

for (const pages of [consoleRoutes, linkRoutes]) pages.onError((error, c: Context<HttpEnv>) => errorPage(c, error))
