import { Hono } from 'hono'
import type { HttpEnv } from '../http/context'
import { errorPage, missingPage } from './errors'
import { pageHeaders } from './headers'
import type { Visit } from './page'
import { abovePages } from './pages/above/routes'
import { apiKeyPages } from './pages/api-keys/routes'
import { auditPages } from './pages/audit-log/routes'
import { billingPages } from './pages/billing/routes'
import { changePages } from './pages/changes/routes'
import { confirmPages } from './pages/confirm/routes'
import { connectionPages } from './pages/connections/routes'
import { consumerPages } from './pages/consumers/routes'
import { customerLinkPages, unlinkedPages } from './pages/customers/routes'
import { domainPages } from './pages/domains/routes'
import { entitlementPages, grantPages } from './pages/entitlements/routes'
import { errorPages } from './pages/errors/routes'
import { eventPages } from './pages/events/routes'
import { featurePages } from './pages/features/routes'
import { generalPages } from './pages/general/routes'
import { healthPages } from './pages/health/routes'
import { invitationPages } from './pages/invitations/routes'
import { memberPages } from './pages/members/routes'
import { noticePages } from './pages/notices/routes'
import { overviewPages } from './pages/overview/routes'
import { passkeyPages } from './pages/passkeys/routes'
import { planPages } from './pages/plans/routes'
import { projectPages } from './pages/projects/routes'
import { referencePages } from './pages/reference/routes'
import { replayPages } from './pages/replays/routes'
import { searchPages } from './pages/search/routes'
import { secondFactorPages } from './pages/second-factor/routes'
import { sessionPages } from './pages/sessions/routes'
import { passkeySignInPages } from './pages/sign-in/passkey'
import { linkPages, signInPages } from './pages/sign-in/routes'
import { ssoPages } from './pages/sso/routes'
import { ssoStartPages } from './pages/sso/start'
import { ssoSettingsPages } from './pages/sso-settings/routes'
import { ssoTestPages } from './pages/sso-tests/routes'
import { statusPages } from './pages/status/routes'
import { endpointPages } from './pages/webhooks-out/routes'

/** The web console: pages over the same stores and rules as the API. */
export const consoleRoutes = new Hono<HttpEnv>()
  .use(pageHeaders)
  .route('/', signInPages)
  .route('/', projectPages)
  .route('/sign-in/passkey', passkeySignInPages)
  .route('/sessions', sessionPages)
  .route('/passkeys', passkeyPages)
  .route('/second-factor', secondFactorPages)
  .route('/confirm', confirmPages)
  .route('/invitations', invitationPages)
  .route('/p/:project', overviewPages)
  .route('/p/:project/status', statusPages)
  .route('/p/:project/search', searchPages)
  .route('/p/:project/platform/settings/general', generalPages)
  .route('/p/:project/platform/settings/api-keys', apiKeyPages)
  .route('/p/:project/platform/settings/members', memberPages)
  .route('/p/:project/platform/settings/domains', domainPages)
  .route('/p/:project/platform/settings/sso', ssoSettingsPages)
  .route('/p/:project/platform/settings/sso', ssoTestPages)
  .route('/p/:project/platform/settings/audit-log', auditPages)
  .route('/p/:project/platform/changes', changePages)
  .route('/p/:project/platform/notices', noticePages)
  .route('/p/:project/platform/webhook-endpoints', endpointPages)
  .route('/p/:project/platform/billing/connections', connectionPages)
  // These come before the page of an event, whose path `/:event` would match them.
  .route('/p/:project/platform/billing/webhooks/health', healthPages)
  .route('/p/:project/platform/billing/webhooks', replayPages)
  .route('/p/:project/platform/billing/webhooks', eventPages)
  .route('/p/:project/platform/billing', billingPages)
  .route('/p/:project/platform/billing/plans', planPages)
  .route('/p/:project/platform/billing/features', featurePages)
  .route('/p/:project/platform/billing/customers', customerLinkPages)
  // This comes before the page of a consumer, whose path `/:consumer` would match it.
  .route('/p/:project/platform/consumers/unlinked', unlinkedPages)
  .route('/p/:project/platform/consumers', consumerPages)
  .route('/p/:project/platform/consumers/:consumer/entitlements', entitlementPages)
  .route('/p/:project/platform/consumers/:consumer/grants', grantPages)
  .route('/', referencePages)
  .route('/', abovePages)
  .all('*', missingPage)

/** The pages behind the link in a sign-in email. */
export const linkRoutes = new Hono<HttpEnv>().use('/sign-in', pageHeaders).route('/', linkPages)

/** The way to a provider of single sign-on and back. */
export const ssoRoutes = new Hono<HttpEnv>().use(pageHeaders).route('/', ssoPages)
export const ssoStartRoutes = new Hono<HttpEnv>().use(pageHeaders).route('/', ssoStartPages)

/** The table of error codes. */
export const errorRoutes = new Hono<HttpEnv>().use(pageHeaders).route('/', errorPages)

for (const pages of [consoleRoutes, linkRoutes, ssoRoutes, ssoStartRoutes, errorRoutes])
  pages.onError((error, c: Visit) => errorPage(c, error))
