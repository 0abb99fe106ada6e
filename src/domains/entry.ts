/** What happened to a domain, for the audit log. */
export type DomainAction =
  | 'domain.added'
  | 'domain.verified'
  | 'domain.record_missing'
  | 'domain.failed'
  | 'domain.taken_over'
  | 'domain.retried'
  | 'domain.deleted'

/** The audit entry of a domain, without what the row itself says. */
export function entryOf(id: string, action: DomainAction) {
  return { action, object_type: 'domain', object_id: id }
}
