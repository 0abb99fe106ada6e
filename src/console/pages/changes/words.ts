import type { ChangeType } from '../../../feed/types'
import { capital } from '../../ui/format'
import { ACTIONS } from '../audit-log/words'

/** What the changes are called that no entry of the audit log stands for. */
const SAID: Partial<Record<ChangeType, string>> = {
  'subscription.changed': 'Subscription changed',
  'invoice.changed': 'Invoice changed',
  'payment_method.changed': 'Payment method changed',
  'purchase.changed': 'Purchase changed',
  'customer.changed': 'Customer changed',
  'customer.linked': 'Customer link changed',
  'webhook_event.processed': 'Event processed',
  'webhook_event.ignored': 'Event ignored',
  'webhook_event.retrying': 'Event could not be processed yet',
  'webhook_event.failed': 'Event failed',
  'webhook_event.recovered': 'Event processed after a failure',
  'consumer.created': 'Consumer created',
  'consumer.updated': 'Consumer changed',
  'consumer.named': 'External ID added to a consumer',
  'entitlements.changed': 'Entitlements changed',
  'entitlements.watching': 'Entitlement tracking started',
}

/** What a change is called. */
export function saidOf(type: ChangeType): string {
  return SAID[type] ?? turned(ACTIONS[type]?.did) ?? type
}

/** What was done, as what happened: `Created a grant` is `Grant created`. */
function turned(did: string | undefined): string | undefined {
  return did?.replace(/^(\w+ed) (?:an?|the) (?!.* (?:to|for|before) )(.+)$/, (_, verb: string, what: string) => {
    return `${capital(what)} ${verb.toLowerCase()}`
  })
}

/** The choices of the filter. */
export const CHOICES = [
  ['', 'All but webhook events'],
  ['all', 'All changes'],
  ['subscription.*', 'Subscriptions'],
  ['invoice.*', 'Invoices'],
  ['payment_method.*', 'Payment methods'],
  ['purchase.*', 'Purchases'],
  ['customer.*', 'Customers'],
  ['consumer.*', 'Consumers'],
  ['grant.*', 'Grants'],
  ['entitlements.*', 'Entitlements'],
  ['webhook_event.*', 'Webhook events'],
  ['plan.*,feature.*', 'Plans and features'],
  ['connection.*,import.*', 'Connections'],
  ['api_key.*', 'API keys'],
  ['webhook_endpoint.*', 'Webhook endpoints'],
  ['project.*', 'The project'],
] as const
