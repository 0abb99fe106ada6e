import type { Reason } from '../../../entitlements/resolve'

/** Why a feature is allowed, or why it is not, in words. */
export const WHY: Record<Reason, string> = {
  plan: 'A subscription gives it',
  grant: 'A grant gives it',
  not_included: 'No plan of the consumer includes it',
  no_subscription: 'No subscription gives access',
  past_due: 'The subscription is not paid',
  expired: 'The subscription or the grant has ended',
  denied: 'A grant denies it',
  test_mode: 'Only a subscription in test mode would give it',
  unknown_status: 'The vendor reports a status that we do not know',
  unknown_consumer: 'There is no such consumer',
  unknown_feature: 'There is no such feature',
  consumer_blocked: 'The consumer is blocked',
  consumer_erased: 'The consumer was erased',
  consumer_merged: 'The consumer was merged',
}
