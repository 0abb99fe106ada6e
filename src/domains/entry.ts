/** What happened to a domain, for the audit log. */
export const DOMAIN_ACTIONS = [
  'domain.added',
  'domain.verified',
  'domain.record_missing',
  'domain.failed',
  'domain.taken_over',
  'domain.retried',
  'domain.deleted',
] as const
export type DomainAction = (typeof DOMAIN_ACTIONS)[number]

/** The audit entry of a domain, without what the row itself says. */
export function entryOf(id: string, action: DomainAction) {
  return { action, object_type: 'domain', object_id: id }
}
