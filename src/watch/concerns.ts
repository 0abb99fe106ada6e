import type { StoredChange } from '../changes/schema'
import { ENTITLEMENT_SETTINGS } from '../tenancy/settings'
import { MONEY_BACK } from '../vendors/purchase'

/** The changes that may change what the consumers may do that they name. */
const OF_CONSUMERS: ReadonlySet<string> = new Set([
  'subscription.changed',
  'purchase.changed',
  'customer.linked',
  'customer.pinned',
  'customer.unpinned',
  'consumer.created',
  'consumer.named',
  'consumer.blocked',
  'consumer.unblocked',
  'consumer.merged',
  'consumer.erased',
  'grant.created',
  'grant.revoked',
])

/** The fields of an invoice that may change what its subscription gives: see the setting `subscription_reversed`. */
const OF_INVOICES: ReadonlySet<string> = new Set(['status', 'amount_paid', 'paid_at', ...MONEY_BACK])

/** The changes that may change what everybody may do, by the fields of which one must have changed; null: in any case. */
const OF_ALL: Readonly<Record<string, readonly string[] | null>> = {
  'plan.created': null,
  'plan.updated': ['features', 'prices', 'rank', 'key'],
  'feature.updated': ['combine'],
  'project.settings_changed': ENTITLEMENT_SETTINGS,
}

/**
 * The consumers that a change concerns: those that its object belonged to and belongs to since, as they were when it was made. If a
 * customer or a grant has another consumer by now, the change that moved it names both.
 */
export function concerned({ type, fields, consumer_id, former }: StoredChange): string[] {
  const isOfInvoice = type === 'invoice.changed' && fields?.some((field) => OF_INVOICES.has(field))
  if (!OF_CONSUMERS.has(type) && !isOfInvoice) return []
  const ids = [former?.consumer_id, consumer_id].filter((id) => id !== undefined)
  return [...new Set(ids)]
}

/** Whether a change may give something to consumers who have nothing, and so no state. */
export function concernsStateless({ fields }: StoredChange): boolean {
  return fields?.includes('default_plan') ?? false
}

/** Whether a change may concern every consumer. */
export function concernsAll({ type, fields }: StoredChange): boolean {
  if (!Object.hasOwn(OF_ALL, type)) return false
  const deciding = OF_ALL[type]
  return !deciding || !fields || fields.some((field) => deciding.includes(field))
}
