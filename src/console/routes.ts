import { type Context, Hono } from 'hono'
import type { HttpEnv } from '../http/context'
import { apiKeyPages } from './api-keys'
import { errorPage, missingPage } from './errors'
import { pageHeaders } from './headers'
import { projectPages } from './projects'
import { referencePages } from './reference'
import { sessionPages } from './sessions'
import { linkPages, signInPages } from './sign-in'

/** The web console: pages over the same stores and rules as the API. */
export const consoleRoutes = new Hono<HttpEnv>()
  .use(pageHeaders)
  .route('/', signInPages)
  .route('/', projectPages)
  .route('/sessions', sessionPages)
  .route('/p/:project/platform/settings/api-keys', apiKeyPages)
  .route('/', referencePages)
  .all('*', missingPage)

/** Where the link of a sign-in mail leads. */
export const linkRoutes = new Hono<HttpEnv>().use('/sign-in', pageHeaders).route('/', linkPages)

for (const pages of [consoleRoutes, linkRoutes]) pages.onError((error, c: Context<HttpEnv>) => errorPage(c, error))
