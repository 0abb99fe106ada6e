import type { Scope } from '../lib/access'

/** The types of changes, by the type of their object, with the scope that reads such objects. */
const OBJECTS = {
  subscription: { scope: 'billing:read', types: ['subscription.changed'] },
  invoice: { scope: 'billing:read', types: ['invoice.changed'] },
  payment_method: { scope: 'billing:read', types: ['payment_method.changed'] },
  purchase: { scope: 'billing:read', types: ['purchase.changed'] },
  customer: {
    scope: 'billing:read',
    types: ['customer.changed', 'customer.linked', 'customer.pinned', 'customer.unpinned'],
  },
  webhook_event: {
    scope: 'billing:read',
    types: [
      'webhook_event.processed',
      'webhook_event.ignored',
      'webhook_event.retrying',
      'webhook_event.failed',
      'webhook_event.recovered',
    ],
  },
  event: { scope: 'billing:read', types: ['event.replayed'] },
  replay: { scope: 'billing:read', types: ['events.replayed'] },
  consumer: {
    scope: 'consumers:read',
    types: [
      'consumer.created',
      'consumer.updated',
      'consumer.named',
      'consumer.blocked',
      'consumer.unblocked',
      'consumer.merged',
      'consumer.erased',
    ],
  },
  device: {
    scope: 'consumers:read',
    types: [
      'device.registered',
      'device.updated',
      'device.rotated',
      'device.rotation_pending',
      'device.rotation_completed',
      'device.pending_token_ended',
      'device.previous_token_ended',
      'device.revoked',
      'device.exposed',
    ],
  },
  feature: { scope: 'catalog:read', types: ['feature.created', 'feature.updated', 'feature.deleted'] },
  plan: { scope: 'catalog:read', types: ['plan.created', 'plan.updated'] },
  grant: { scope: 'entitlements:read', types: ['grant.created', 'grant.revoked'] },
  entitlements: { scope: 'entitlements:read', types: ['entitlements.changed', 'entitlements.watching'] },
  entitlement_key: { scope: 'entitlements:read', types: ['entitlement_key.rotated'] },
  connection: {
    scope: 'connections:read',
    types: [
      'connection.created',
      'connection.updated',
      'connection.deleted',
      'connection.secret_added',
      'connection.secret_removed',
      'connection.api_key_set',
      'connection.api_key_removed',
      'connection.endpoint_set',
      'connection.verification_set',
      'connection.test_event_sent',
      'connection.failures_muted',
      'connection.failures_unmuted',
      'connection.refusals_muted',
      'connection.refusals_unmuted',
    ],
  },
  import: { scope: 'connections:read', types: ['import.started', 'import.canceled'] },
  api_key: {
    scope: 'api_keys:read',
    types: [
      'api_key.minted',
      'api_key.updated',
      'api_key.rotated',
      'api_key.rotation_pending',
      'api_key.rotation_completed',
      'api_key.pending_secret_ended',
      'api_key.previous_secret_ended',
      'api_key.revoked',
      'api_key.exposed',
    ],
  },
  webhook_endpoint: {
    scope: 'webhooks:read',
    types: [
      'webhook_endpoint.created',
      'webhook_endpoint.updated',
      'webhook_endpoint.deleted',
      'webhook_endpoint.disabled',
      'webhook_endpoint.secret_added',
      'webhook_endpoint.secret_removed',
      'webhook_endpoint.resent',
    ],
  },
  project: {
    scope: 'projects:read',
    types: ['project.created', 'project.renamed', 'project.settings_changed', 'project.deleted', 'project.restored'],
  },
} as const satisfies Record<string, { scope: Scope; types: readonly string[] }>

export type ChangeObject = keyof typeof OBJECTS
export const CHANGE_OBJECTS = Object.keys(OBJECTS) as ChangeObject[]
export type ChangeType = (typeof OBJECTS)[ChangeObject]['types'][number]

const ENTRIES = Object.entries(OBJECTS).flatMap(([object, { scope, types }]) =>
  types.map((type) => [type as ChangeType, { object: object as ChangeObject, scope: scope as Scope }] as const),
)

/** For each type: the type of its object, and the scope that a reader needs. */
export const CHANGE_TYPES = Object.fromEntries(ENTRIES) as Record<ChangeType, { object: ChangeObject; scope: Scope }>

/** The types that a filter names: one, or all that begin like `subscription.*`; none if it names nothing that there is. */
export function typesNamed(word: string): ChangeType[] {
  const all = ENTRIES.map(([type]) => type)
  return word.endsWith('.*')
    ? all.filter((type) => type.startsWith(word.slice(0, -1)))
    : all.filter((one) => one === word)
}
