import { must } from '../../scripts/lib/api.ts'
import { signIn as signInByApi } from '../../scripts/lib/sign-in.ts'
import { sendStripe, URL_OF_CONSOLE } from './browser.ts'
import { catalogPaths } from './catalog-paths.ts'
import { consumerPaths } from './consumer-paths.ts'
import { endpointPaths } from './endpoint-paths.ts'
import { foundBy } from './found.ts'
import { hmacConnection } from './hmac-connection.ts'
import { memberPaths } from './member-paths.ts'
import { setOutside } from './outside.ts'
import { ssoPaths } from './sso-paths.ts'

const SECRET = 'whsec_a_secret_of_the_page_tests'
/** A link of a sign-in that no longer works. */
const LINK = '/auth/sign-in?challenge=chl_1&code=ABC'

/** Makes a user with a project that has one of each thing, and an empty project. @returns the paths of all pages, by name */
export async function makePages(): Promise<{ token: string; paths: Record<string, string> }> {
  const { token } = await signInByApi(URL_OF_CONSOLE, 'pages@example.com')
  let project = ''
  const api = <T>(path: string, json?: unknown) =>
    must<T>(`${URL_OF_CONSOLE}/platform/v1/${path}`, { token, project, ...(json !== undefined && { json }) })
  const make = (name: string) => api<{ id: string }>('projects', { name })
  const empty = (await make('Nothing yet')).id
  project = (await make('Acme production')).id
  const connection = await api<{ id: string; secrets: { id: string }[] }>('billing/connections', {
    vendor: 'stripe',
    name: 'Stripe, test mode',
    livemode: false,
    signing_secret: SECRET,
  })
  const api_key = `rk_test_51${'Pages'.repeat(8)}`
  await setOutside(api_key, { objects: {}, refused: ['checkout/sessions'] })
  const put = (path: string, json: object) =>
    must(`${URL_OF_CONSOLE}/platform/v1/billing/${path}`, { method: 'PUT', token, project, json })
  await put(`connections/${connection.id}/api-key`, { api_key })
  const names = ['Production server', 'Nightly import', 'x'.repeat(100), 'CI']
  const more = { vendor: 'chargebee', name: 'A connection with quite a long name, for a second site', livemode: true }
  const begun = await api<{ id: string }>('billing/connections', more)
  const secured = { ...more, signing_secret: 'webhook:a-long-password' }
  const waiting = await api<{ id: string }>('billing/connections', secured)
  const sender = await hmacConnection({ token, project }, SECRET)
  const keys = await Promise.all(names.map((name) => api<{ key: { id: string } }>('api-keys', { name })))
  const types = ['customer.subscription.updated', 'invoice.paid', 'customer.created', 'payment_method.attached']
  const send = (_: unknown, n: number) => sendStripe(connection.id, SECRET, types[n % types.length] as string)
  const ids = await Promise.all(Array.from({ length: 60 }, send))
  const failed = await sendStripe(connection.id, SECRET, 'invoice.payment_failed', null)
  await sendStripe(connection.id, SECRET, 'invoice.payment_failed', null)
  const sold = {
    mode: 'payment',
    payment_status: 'paid',
    payment_intent: 'pi_pages',
    amount_total: 4900,
    currency: 'eur',
  }
  await sendStripe(connection.id, SECRET, 'checkout.session.completed', {
    ...sold,
    id: 'cs_1',
    object: 'checkout.session',
  })
  const billed = {
    object: 'invoice',
    status: 'paid',
    number: 'NW-1005',
    total: 1900,
    amount_paid: 1900,
    currency: 'eur',
  }
  await sendStripe(connection.id, SECRET, 'invoice.paid', { ...billed, id: 'in_1', subscription: 'sub_1' })
  const card = { type: 'card', card: { brand: 'visa', last4: '4242', exp_month: 1, exp_year: 2099 } }
  await sendStripe(connection.id, SECRET, 'payment_method.updated', {
    ...card,
    id: 'pm_pages',
    object: 'payment_method',
  })
  const object = await foundBy(async () => (await api<{ data: { id: string }[] }>('billing/subscriptions')).data[0]?.id)
  // What is still being processed is left out of a replay.
  const some = { filter: { event_type: ['customer.created'] } }
  const replay = await foundBy(
    async () => (await api<{ replay_id: string }>('billing/webhooks/replay', some)).replay_id,
  )
  await put(`webhooks/failures/${connection.id}/payload_invalid/mute`, { until: null })
  const base = `/console/p/${project}/platform`
  const consumers = await consumerPaths({ token, project, empty }, (object) =>
    sendStripe(connection.id, SECRET, 'customer.updated', object),
  )
  const catalog = await catalogPaths({ token, project, empty }, 'user_1')
  const members = await memberPaths({ token, project, empty })
  const sso = await ssoPaths({ token, project, empty })
  const key = keys[0]?.key.id
  const paths: Record<string, string> = {
    'sign-in': '/console/sign-in',
    link: LINK,
    projects: '/console',
    'new-project': '/console/projects/new',
    sessions: '/console/sessions',
    activity: '/console/sessions/activity',
    'end-all': '/console/sessions/end-all',
    passkeys: '/console/passkeys',
    'new-passkey': '/console/passkeys/new',
    'second-factor': '/console/second-factor',
    'overview-empty': `/console/p/${empty}`,
    overview: `/console/p/${project}`,
    general: `${base}/settings/general`,
    'replays-empty': `/console/p/${empty}/platform/billing/webhooks/replays`,
    replays: `${base}/billing/webhooks/replays`,
    'keys-empty': `/console/p/${empty}/platform/settings/api-keys`,
    keys: `${base}/settings/api-keys`,
    key: `${base}/settings/api-keys/${key}`,
    'new-key': `${base}/settings/api-keys/new`,
    'edit-key': `${base}/settings/api-keys/${key}/edit`,
    'rotate-key': `${base}/settings/api-keys/${key}/rotate`,
    'revoke-key': `${base}/settings/api-keys/${key}/revoke`,
    'audit-log': `${base}/settings/audit-log?action=api_key.*`,
    'connections-empty': `/console/p/${empty}/platform/billing/connections`,
    connections: `${base}/billing/connections`,
    'choose-vendor': `${base}/billing/connections/new`,
    'new-connection': `${base}/billing/connections/new?vendor=stripe`,
    'connection-begun': `${base}/billing/connections/${begun.id}`,
    'connection-waiting': `${base}/billing/connections/${waiting.id}`,
    'connection-hmac': `${base}/billing/connections/${sender}`,
    verification: `${base}/billing/connections/${sender}/verification`,
    'disable-connection': `${base}/billing/connections/${connection.id}/disable`,
    connection: `${base}/billing/connections/${connection.id}`,
    'delete-connection': `${base}/billing/connections/${connection.id}/delete`,
    'remove-vendor-key': `${base}/billing/connections/${connection.id}/api-key/remove`,
    'remove-secret': `${base}/billing/connections/${connection.id}/secrets/${connection.secrets[0]?.id}/remove`,
    'events-empty': `/console/p/${empty}/platform/billing/webhooks`,
    events: `${base}/billing/webhooks`,
    'events-found': `${base}/billing/webhooks?event_type=invoice.*&vendor=stripe`,
    'events-failed': `${base}/billing/webhooks?status=failed`,
    'mute-cause': `${base}/billing/webhooks/failures/${connection.id}/payload_invalid/mute`,
    'events-unknown': `${base}/billing/webhooks?q=nobody`,
    'events-more': `${base}/billing/webhooks?more=1&connection_id=${connection.id}&within=24h&ref=cus_1&status=failed`,
    'events-wrong': `${base}/billing/webhooks?error=x&min_attempts=0`,
    event: `${base}/billing/webhooks/${ids[0]}`,
    'event-other': `${base}/billing/webhooks/${failed}`,
    'dry-run': `${base}/billing/webhooks/${ids[0]}/replay`,
    'billing-empty': `/console/p/${empty}/platform/billing/invoices`,
    subscriptions: `${base}/billing/subscriptions`,
    subscription: `${base}/billing/subscriptions/${object}`,
    invoices: `${base}/billing/invoices?status=paid`,
    invoice: `${base}/billing/invoices/in_1?vendor=stripe`,
    customer: `${base}/billing/customers/stripe/cus_1`,
    'payment-methods': `${base}/billing/payment-methods`,
    purchases: `${base}/billing/purchases`,
    ...members,
    ...consumers,
    ...catalog,
    ...sso,
    ...(await endpointPaths({ token, project, empty })),
    'bulk-replay': `${base}/billing/webhooks/replay?event_type=invoice.paid`,
    replay: `${base}/billing/webhooks/replays/${replay}`,
    'health-empty': `/console/p/${empty}/platform/billing/webhooks/health`,
    health: `${base}/billing/webhooks/health`,
    search: `/console/p/${project}/search?q=ada`,
    changes: `${base}/changes`,
    'delete-project': `${base}/settings/general/delete`,
    'erase-account': '/console/sessions/erase',
    codes: '/console/passkeys/codes',
    'revoke-keys': `${base}/settings/api-keys/revoke?id=${key}`,
    'pause-connection': `${base}/billing/connections/${connection.id}/pause`,
    'mute-refusal': `${base}/billing/connections/${connection.id}/refusals/signature_mismatch/mute`,
    'payment-method': `${base}/billing/payment-methods/pm_pages`,
    purchase: `${base}/billing/purchases/pi_pages`,
    'edit-feature': `${base}/billing/features/sso/edit`,
    'link-chosen': `${base}/consumers/unlinked/link?id=stripe+cus_unlinked`,
    'delete-domain': `${sso.domain}/delete`,
    'disable-sso': `${sso['sso-team']}/disable`,
    'delete-sso': `${sso['sso-customers']}/delete`,
    'edit-device': consumers['revoke-device']?.replace(/revoke$/, 'edit') ?? '',
    'rotate-device': consumers['revoke-device']?.replace(/revoke$/, 'rotate') ?? '',
    errors: '/errors',
    reference: `/console/p/${project}/reference`,
    missing: '/console/nothing/here',
    docs: '/docs',
    'docs-tables': '/docs/reference/api',
  }
  return { token, paths }
}
