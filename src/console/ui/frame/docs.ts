import type { SectionName } from './sections'

/** The documentation of each section's pages. */
export const SECTION_DOCS: Record<SectionName, string> = {
  overview: '/docs/start/first-hour',
  notices: '/docs/guides/notices',
  changes: '/docs/guides/changes',
  'webhooks-out': '/docs/guides/webhooks-out',
  events: '/docs/concepts/webhooks#an-event-record',
  connections: '/docs/guides/vendors',
  replays: '/docs/concepts/webhooks-2#replaying',
  health: '/docs/concepts/webhooks#reading',
  subscriptions: '/docs/concepts/billing',
  invoices: '/docs/concepts/billing',
  'payment-methods': '/docs/concepts/billing',
  purchases: '/docs/concepts/purchases',
  plans: '/docs/concepts/entitlements#catalog',
  features: '/docs/concepts/entitlements#catalog',
  consumers: '/docs/concepts/consumers',
  unlinked: '/docs/concepts/consumers#customers-of-your-vendors',
  general: '/docs/concepts/projects',
  keys: '/docs/reference/api#api-keys',
  members: '/docs/guides/members',
  domains: '/docs/guides/domains',
  sso: '/docs/guides/sso',
  audit: '/docs/reference/api-2#the-audit-log',
  reference: '/docs/reference/api',
  projects: '/docs/concepts/projects',
  sessions: '/docs/concepts/accounts',
  passkeys: '/docs/guides/passkeys',
}

/** Documentation that belongs to no page of the console, with the words that find it. */
export const OTHER_DOCS: readonly (readonly [title: string, to: string, words: string])[] = [
  ['How long data is kept', '/docs/operate/operations-2#size-and-retention', 'retention storage deleted'],
  ['Rate limits', '/docs/reference/api-2#rate-limits', 'requests throttled 429'],
  ['Times in UTC or in your time zone', '/docs/contribute/console', 'timezone local'],
]
