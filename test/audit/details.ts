import { expect } from 'vitest'
import type { World } from '../routes/world'

/**
 * The details of the entry that each call and each form leaves, by its action or, where another one leaves other details, by its
 * method and path; null for an action that is not here. Ids that the world has are in angle brackets, and new ones cut.
 */
export const DETAILS: Record<string, unknown> = {
  'api_key.minted': { name: 'sample', scopes: ['billing:read'], rate_limit: 600 },
  'api_key.updated': {
    ...{ name: 'sample', allowed_networks: ['::/0'], rate_limit: 600 },
    before: { name: 'other', allowed_networks: null, rate_limit: null },
  },
  'api_key.rotated': { key_prefix: 'svc_v1_…' },
  'api_key.pending_secret_ended': { key_prefix: 'svc_v1_…' },
  'api_key.previous_secret_ended': { key_prefix: 'svc_v1_…' },
  'project.created': { name: 'sample' },
  'project.renamed': { name: 'sample', before: { name: 'Test' } },
  'project.deleted': { name: 'Test' },
  'project.restored': { name: 'Test' },
  'member.role_changed': { from: 'developer', to: 'viewer' },
  'member.mail_chosen': { mail: 'security' },
  'member.removed': { role: 'developer' },
  'member.invited': { role: 'viewer' },
  'invitation.resent': { role: 'viewer' },
  'invitation.revoked': { role: 'viewer' },
  'consumer.blocked': { reason: 'sample' },
  'consumer.unblocked': { reason: 'sample' },
  'consumer.merged': { into: '<survivor>', external_ids: 1, customers: [] },
  'consumer.erased': { erasure: 'ers_…' },
  'device.updated': { consumer: '<consumer>', fields: ['name', 'scopes'], scopes: ['a'] },
  'device.rotated': { consumer: '<consumer>', token_prefix: 'svc_dv_…' },
  'device.pending_token_ended': { consumer: '<consumer>', token_prefix: 'svc_dv_…' },
  'device.previous_token_ended': { consumer: '<consumer>', token_prefix: 'svc_dv_…' },
  'device.revoked': { consumer: '<consumer>' },
  'domain.added': { hostname: 'sample.dev', purpose: 'surface' },
  'domain.retried': { hostname: 'host.plain.dev', purpose: 'surface' },
  'domain.deleted': { hostname: 'host.plain.dev', purpose: 'surface' },
  'feature.created': { name: 'sample', type: 'boolean' },
  'feature.updated': { name: 'sample', before: { name: 'unused' } },
  'feature.deleted': { name: 'unused' },
  'plan.created': { key: 'sample' },
  'PUT /platform/v1/billing/catalog': { fields: ['name', 'rank'], revision: 2 },
  // Only what is another value than before.
  'PATCH /platform/v1/billing/plans/:id': { fields: ['key', 'name', 'rank', 'state', 'features'], revision: 2 },
  'plan.updated': { fields: ['key', 'name', 'rank', 'features'], revision: 2 },
  'grant.created': { consumer: '<consumer>', feature: 'seats', plan: null, effect: 'allow' },
  'grant.revoked': { consumer: '<consumer>', feature: 'sso', plan: null, effect: 'allow' },
  'entitlement_key.rotated': { compromised: false },
  'connection.created': { vendor: 'stripe', name: 'sample' },
  'connection.updated': { name: 'sample', status: 'active', before: { name: 'Stripe', status: 'active' } },
  'connection.secret_added': { secret_id: 'sec_…' },
  'connection.secret_removed': { secret_id: 'sec_…' },
  'connection.verification_set': {
    preset: 'github',
    algorithm: 'sha256',
    header: 'x-hub-signature-256',
    prefix: 'sha256=',
    encoding: 'hex',
    unit: 's',
    signed: '{body}',
    tolerance_s: 300,
    id: 'header:x-github-delivery',
    type: 'header:x-github-event',
  },
  'connection.test_event_sent': { name: 'invoice_paid', type: 'invoice.paid' },
  'connection.failures_muted': { error_code: 'payload_invalid', until: null },
  'connection.failures_unmuted': { error_code: 'payload_invalid' },
  'connection.refusals_muted': { code: 'signature_mismatch', until: null },
  'connection.refusals_unmuted': { code: 'signature_mismatch' },
  'connection.api_key_set': { hint: 'orld' },
  'connection.endpoint_set': { did: 'created', endpoint: 'we_…', secret_id: 'sec_…' },
  'webhook_endpoint.created': { url: 'https://sample.plain.dev/hook', types: ['webhook_endpoint.*'] },
  'webhook_endpoint.updated': { state: 'disabled' },
  'webhook_endpoint.secret_added': { secret_id: 'sec_…' },
  'webhook_endpoint.secret_removed': { secret_id: 'sec_…' },
  'webhook_endpoint.resent': {
    resend: 'rsd_…',
    after: expect.any(Number),
    until: expect.any(Number),
    types: null,
    failed_only: false,
  },
  'import.started': { connection_id: 'con_…', kinds: ['customers'] },
  'import.canceled': { connection_id: 'con_…' },
  'events.replayed': { filter: { order: 'desc' }, matched: 1 },
  'customer.pinned': { vendor: 'stripe', consumer: '<consumer>' },
  'customer.unpinned': { vendor: 'stripe', consumer: '<consumer>' },
  'sso_connection.created': { audience: 'team', name: 'sample', issuer: 'https://sample.plain.dev' },
  'sso_connection.updated': {
    name: 'sample',
    client_id: 'other',
    auth_method: 'client_secret_basic',
    scopes: ['openid'],
    claims: { email: 'email', name: 'name' },
    domain_ids: [],
    create_consumers: true,
    redirect_uris: ['https://app.acme.dev/callback'],
    client_secret: 'changed',
    before: {
      name: 'sample',
      client_id: 'rp',
      auth_method: 'none',
      scopes: ['openid'],
      claims: { email: 'email', name: 'name' },
      domain_ids: [],
      create_consumers: false,
      redirect_uris: [],
    },
  },
  'sso_connection.test_started': { test: 'sit_…' },
  ...inProject({
    'general/settings': { require_passkey: true, before: { require_passkey: false } },
    'general/consumers': {
      consumer_keys: ['user_id'],
      max_devices: 5,
      before: { consumer_keys: ['consumer_external_id'], max_devices: 100 },
    },
    'general/entitlements': {
      grace_days: 1,
      renewal_slack_hours: 1,
      before: { grace_days: 7, renewal_slack_hours: 48 },
    },
    'general/purchases': {
      purchase_rules: { refunded_part: 'end', refunded_whole: 'end', dispute_open: 'keep', dispute_lost: 'end' },
      before: {
        purchase_rules: { refunded_part: 'keep', refunded_whole: 'end', dispute_open: 'suspend', dispute_lost: 'end' },
      },
    },
    'general/exposure': { on_exposure: 'notify', before: { on_exposure: 'revoke' } },
    general: { name: 'By form', before: { name: 'Test' } },
    'api-keys': { name: 'By form', scopes: ['billing:read'] },
    'api-keys/:id/edit': { name: 'By form', rate_limit: 60, before: { name: 'other', rate_limit: null } },
    'members/:user/role': { from: 'developer', to: 'admin' },
    domains: { hostname: 'by-form.dev', purpose: 'surface' },
    sso: { audience: 'team', name: 'By form', issuer: 'https://sample.plain.dev' },
    'sso/:id': {
      ...{ name: 'By form', client_id: 'rp', domain_ids: [] },
      before: { name: 'sample', client_id: 'rp', domain_ids: [] },
    },
    'sso/:id/enforce': { enforce: false, before: { enforce: true } },
  }),
  'POST /console/projects': { name: 'By form' },
  'POST /console/p/:project/platform/billing/connections': { vendor: 'stripe', name: 'By form' },
  'POST /console/p/:project/platform/webhook-endpoints/:id/edit': { types: ['webhook_endpoint.updated'] },
  'POST /console/p/:project/platform/webhook-endpoints/:id/enable': { state: 'active' },
  'POST /console/p/:project/platform/billing/connections/:id': { name: 'By form', before: { name: 'Stripe' } },
  'POST /console/p/:project/platform/billing/connections/:id/verification': {
    preset: 'github',
    algorithm: 'sha256',
    header: 'x-mac',
    encoding: 'hex',
    unit: 's',
    signed: '{body}',
    tolerance_s: 300,
  },
  'POST /console/p/:project/platform/billing/customers/:vendor/:customer/consumer/new': {
    vendor: 'stripe',
    consumer: 'csm_…',
  },
  'POST /console/p/:project/platform/billing/customers/:vendor/:customer/nobody': { vendor: 'stripe', consumer: null },
  'POST /console/p/:project/platform/consumers/unlinked/link': { vendor: 'stripe', consumer: null },
  'POST /console/p/:project/platform/consumers/:consumer/block': null,
  'POST /console/p/:project/platform/consumers/:consumer/unblock': null,
  'POST /console/p/:project/platform/consumers/:consumer/grants': {
    consumer: '<consumer>',
    feature: 'sso',
    plan: null,
    effect: 'deny',
  },
}

/** Of forms in a project's settings. */
function inProject(forms: Record<string, unknown>): Record<string, unknown> {
  const named = Object.entries(forms).map(([path, of]) => [`POST /console/p/:project/platform/settings/${path}`, of])
  return Object.fromEntries(named)
}

/** Details as they are stored, in the form of {@link DETAILS}. */
export function namedIn(world: World, details: string | null): unknown {
  if (details === null) return null
  const { consumer, survivor } = world
  const text = details.replaceAll(consumer, '<consumer>').replaceAll(survivor, '<survivor>')
  return JSON.parse(
    text
      .replaceAll(/\b([a-z]{3})_[0-9a-z]{26,30}\b/g, '$1_…')
      .replaceAll(/\bwe_\w+/g, 'we_…')
      .replaceAll(/svc_v1_\w{4}…\w{4}/g, 'svc_v1_…')
      .replaceAll(/svc_dv_\w{4}…\w{4}/g, 'svc_dv_…')
      .replaceAll(/\bh[0-9a-f]{8}\.plain/g, 'host.plain'),
  )
}
