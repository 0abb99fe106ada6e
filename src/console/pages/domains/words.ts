import type { DomainState, Purpose } from '../../../domains/schema'

export const PURPOSE_WORDS: Record<Purpose, string> = {
  sso: 'Single sign-on',
  surface: 'Host for pages',
}

/** What each state means, in a sentence. */
export const STATE_WORDS: Record<DomainState, string> = {
  pending: 'The record has not been found yet. We keep looking for seven days.',
  verified: 'The domain is yours. Keep the record: we check it every day.',
  grace: 'The record is gone. The domain still works for now.',
  failed: 'The domain no longer has any effect. Try again to get a new record.',
  released: 'The domain was deleted.',
}
