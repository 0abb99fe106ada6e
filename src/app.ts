import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { accountRoutes } from './accounts/routes'
import { apiKeyCredential } from './api-keys/authenticate'
import { countUses } from './api-keys/count-uses'
import { apiKeyRoutes } from './api-keys/routes'
import { keySecretRoutes } from './api-keys/secret-routes'
import { keyUsageRoutes } from './api-keys/usage-routes'
import { auditRoutes } from './audit-log/routes'
import { catalogRoutes } from './catalog/catalog-routes'
import { CatalogFile } from './catalog/document'
import { featureRoutes } from './catalog/feature-routes'
import { planRoutes } from './catalog/plan-routes'
import { hasItemOf } from './catalog/sold'
import { consoleRoutes, errorRoutes, linkRoutes, ssoRoutes, ssoStartRoutes } from './console/routes'
import { customerLinkRoutes } from './consumers/customer-routes'
import { consumerRoutes } from './consumers/routes'
import { consumerRoute } from './devices/consumer-route'
import { deviceRoutes } from './devices/routes'
import { deviceTokenRoutes } from './devices/token-routes'
import { verifyRoutes } from './devices/verify-route'
import { domainRoutes } from './domains/routes'
import { hostRouting } from './domains/surface'
import { deliveryRoutes } from './endpoints/delivery-routes'
import { endpointRoutes } from './endpoints/routes'
import { catalogPreviewRoutes } from './entitlements/catalog-preview-routes'
import { grantRoutes } from './entitlements/grant-routes'
import { previewRoutes } from './entitlements/preview-routes'
import { consumerRefreshRoutes } from './entitlements/refresh-routes'
import { checkRoutes, consumerEntitlementRoutes } from './entitlements/routes'
import { tokenRoutes } from './entitlements/token-routes'
import { type Env, openRuntime } from './env'
import { exposureRoutes, githubRoutes } from './exposures/routes'
import { changeRoutes } from './feed/routes'
import { wakeAfterCalls } from './followers/after-calls'
import { healthRoutes } from './health/healthz'
import { metricsRoutes } from './health/metrics'
import { refusalRoutes } from './health/refusal-routes'
import { inboxHealthRoutes } from './health/routes'
import type { HttpEnv } from './http/context'
import { OPENAPI_30, serveOpenApi, serveSchema } from './http/descriptions'
import { problem } from './http/errors'
import { front } from './http/front'
import { requireHttps } from './http/https'
import { requestLog } from './http/log'
import { requestMetrics } from './http/measure-request'
import { allowedMethods, notFoundOrMethod } from './http/unmatched'
import { connectionRoutes } from './inbox/connections/routes'
import { verificationRoutes } from './inbox/connections/verification-routes'
import { diagnosisRoutes } from './inbox/diagnoses/routes'
import { eventRoutes } from './inbox/events/routes'
import { muteRoutes } from './inbox/failures/mute-routes'
import { failureRoutes } from './inbox/failures/routes'
import { formatRoutes } from './inbox/formats/routes'
import { importRoutes } from './inbox/imports/routes'
import { customerRoutes } from './inbox/objects/customer-routes'
import { invoiceRoutes, paymentMethodRoutes, purchaseRoutes, subscriptionRoutes } from './inbox/objects/list-routes'
import { invoiceRoute, paymentMethodRoute, purchaseRoute, subscriptionRoute } from './inbox/objects/routes'
import { ingestRoutes } from './inbox/receive/routes'
import { customerRefreshRoutes } from './inbox/refresh/routes'
import { replayRoutes } from './inbox/replay/routes'
import { searchRoutes } from './inbox/search/routes'
import {
  invoiceTimelineRoutes,
  paymentMethodTimelineRoutes,
  purchaseTimelineRoutes,
  subscriptionTimelineRoutes,
} from './inbox/timeline/routes'
import { vendorKeyRoutes } from './inbox/vendor-api/routes'
import { vendorEndpointRoutes } from './inbox/vendor-endpoints/routes'
import { mcpRoutes } from './mcp/routes'
import { eraseRoute } from './members/erase-route'
import { invitationRoutes } from './members/invitation-routes'
import { ownInvitationRoutes } from './members/own-routes'
import { memberRoutes } from './members/routes'
import { noticeRoutes } from './notices/routes'
import { factorRoutes } from './passkeys/factor-routes'
import { passkeyRoutes } from './passkeys/routes'
import { projectRoutes } from './projects/routes'
import { findRoutes } from './search/routes'
import { sessionCredential } from './sessions/authenticate'
import { authRoutes } from './sessions/routes'
import { ssoConnectionRoutes } from './sso/connections/routes'
import { ssoCustomerRoutes } from './sso/customers/routes'
import { ssoIdentityRoutes } from './sso/identities/routes'
import { ssoTestRoutes } from './sso/test-runs/routes'
import { jwksRoutes, keyRoutes } from './token-keys/routes'
import { toldRoutes } from './watch/routes'

/** What a browser may do with a response that is no page of the console: show it, and nothing else. */
const NO_PAGE =
  "default-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"

/** The kinds of credentials that a Bearer token can be. */
export const CREDENTIALS = [apiKeyCredential, sessionCredential]

const base = new Hono<HttpEnv>()

base.use(requestLog)
base.use(requestMetrics)
base.use(async (c, next) => {
  c.set('credentialKinds', CREDENTIALS)
  c.set('rt', openRuntime(c.env as Env, c.executionCtx))
  await next()
  c.res.headers.set('X-Content-Type-Options', 'nosniff')
  if (!c.res.headers.has('Content-Security-Policy')) c.res.headers.set('Content-Security-Policy', NO_PAGE)
})
base.use(wakeAfterCalls)
base.use(countUses)
base.use(requireHttps)
base.use(hostRouting)
for (const plane of ['/platform/*', '/auth/*', '/ingest/*', '/p/*', '/exposures/*', '/mcp']) base.use(plane, noStore)
// What projects publish, for the pages of any site.
base.use('/p/*', cors({ origin: '*', allowMethods: ['GET', 'HEAD'] }))

const app = base
  // The API, server to server: Bearer tokens only.
  .route('/platform/v1/api-keys', apiKeyRoutes)
  .route('/platform/v1/api-keys', keySecretRoutes)
  .route('/platform/v1/api-keys', keyUsageRoutes)
  .route('/platform/v1/projects', projectRoutes)
  .route('/platform/v1/members', memberRoutes)
  .route('/platform/v1/invitations', invitationRoutes)
  .route('/platform/v1/audit-log', auditRoutes)
  .route('/platform/v1/changes', changeRoutes)
  .route('/platform/v1/notices', noticeRoutes)
  .route('/platform/v1/search', findRoutes)
  .route('/platform/v1/webhook-endpoints', endpointRoutes)
  .route('/platform/v1/webhook-endpoints', deliveryRoutes)
  .route('/platform/v1/consumers', consumerRoutes)
  .route('/platform/v1/consumers', consumerRoute)
  .route('/platform/v1/consumers', deviceRoutes)
  .route('/platform/v1/consumers', deviceTokenRoutes)
  .route('/platform/v1/devices', verifyRoutes)
  .route('/platform/v1/consumers', consumerEntitlementRoutes)
  .route('/platform/v1/consumers', consumerRefreshRoutes)
  .route('/platform/v1/domains', domainRoutes)
  .route('/platform/v1/consumers', tokenRoutes)
  .route('/platform/v1/billing/catalog', catalogRoutes)
  .route('/platform/v1/billing/catalog', catalogPreviewRoutes)
  .route('/platform/v1/billing/features', featureRoutes)
  .route('/platform/v1/billing/plans', planRoutes)
  .route('/platform/v1/billing/plans', previewRoutes)
  .route('/platform/v1/billing/grants', grantRoutes)
  .route('/platform/v1/billing/entitlements', checkRoutes)
  .route('/platform/v1/billing/entitlements', toldRoutes)
  .route('/platform/v1/sso', ssoCustomerRoutes)
  .route('/platform/v1/billing/entitlement-keys', keyRoutes)
  .route('/platform/v1/billing/connections', connectionRoutes)
  .route('/platform/v1/billing/connections', verificationRoutes)
  .route('/platform/v1/billing/connections', diagnosisRoutes)
  .route('/platform/v1/billing/connections', refusalRoutes)
  .route('/platform/v1/billing/connections', formatRoutes)
  .route('/platform/v1/billing/connections', vendorKeyRoutes)
  .route('/platform/v1/billing/connections', vendorEndpointRoutes)
  .route('/platform/v1/billing/connections', importRoutes)
  // These come before the event routes, whose `:event_id` would match their words.
  .route('/platform/v1/billing/webhooks/search', searchRoutes)
  .route('/platform/v1/billing/webhooks/failures', failureRoutes)
  .route('/platform/v1/billing/webhooks/failures', muteRoutes)
  .route('/platform/v1/billing/webhooks', inboxHealthRoutes)
  .route('/platform/v1/billing/webhooks', replayRoutes)
  .route('/platform/v1/billing/webhooks', eventRoutes)
  .route('/platform/v1/billing/subscriptions', subscriptionRoutes(hasItemOf))
  .route('/platform/v1/billing/subscriptions', subscriptionRoute)
  .route('/platform/v1/billing/subscriptions', subscriptionTimelineRoutes)
  .route('/platform/v1/billing/invoices', invoiceRoutes)
  .route('/platform/v1/billing/invoices', invoiceRoute)
  .route('/platform/v1/billing/invoices', invoiceTimelineRoutes)
  .route('/platform/v1/billing/payment-methods', paymentMethodRoutes)
  .route('/platform/v1/billing/payment-methods', paymentMethodRoute)
  .route('/platform/v1/billing/payment-methods', paymentMethodTimelineRoutes)
  .route('/platform/v1/billing/purchases', purchaseRoutes)
  .route('/platform/v1/billing/purchases', purchaseRoute)
  .route('/platform/v1/billing/purchases', purchaseTimelineRoutes)
  .route('/platform/v1/billing/customers', customerLinkRoutes)
  .route('/platform/v1/billing/customers', customerRoutes)
  .route('/platform/v1/billing/customers', customerRefreshRoutes)
  // What anybody may read of a project.
  .route('/p', jwksRoutes)
  .route('/platform/v1/sso/connections', ssoConnectionRoutes)
  .route('/platform/v1/sso/connections', ssoTestRoutes)
  .route('/platform/v1/sso/identities', ssoIdentityRoutes)
  // Sign-in for people, and the endpoint that vendors call.
  .route('/auth', authRoutes)
  .route('/auth', eraseRoute)
  .route('/auth', accountRoutes)
  .route('/auth', passkeyRoutes)
  .route('/auth', factorRoutes)
  .route('/auth/invitations', ownInvitationRoutes)
  .route('/ingest', ingestRoutes)
  // The service itself.
  .route('/healthz', healthRoutes)
  .route('/exposures', exposureRoutes)
  .get('/openapi.json', (c) => serveOpenApi(c, base, CREDENTIALS))

// For people, editors and scrapers. They are registered on the same app but left out of its type: no typed client calls them.
base.get(OPENAPI_30, (c) => serveOpenApi(c, base, CREDENTIALS))
base.get('/catalog.schema.json', (c) => serveSchema(c, CatalogFile))
base.get('/', front)
base.route('/metrics', metricsRoutes)
// For agents: its tools are calls of the API above.
base.route(
  '/mcp',
  mcpRoutes(async (c, request) => app.fetch(request, c.env, c.executionCtx)),
)
base.route('/exposures/github', githubRoutes)
base.route('/console', consoleRoutes)
base.route('/errors', errorRoutes)
base.route('/auth', linkRoutes)
base.route('/auth/sso', ssoStartRoutes)
base.route('/sso', ssoRoutes)

app.onError((error, c) => problem(c, error))
// Returned, not thrown: an error thrown here would bypass the middlewares that set headers.
app.notFound((c) => problem(c, notFoundOrMethod(allowedMethods(app, c.req.path))))

export { app }
/** For `hc<App>()`: a client with typed paths, bodies and responses. */
export type App = typeof app

async function noStore(c: Context<HttpEnv>, next: () => Promise<void>): Promise<void> {
  await next()
  if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store')
}
