import type { SectionName } from './sections'

/** The icon of each section, by its name in Heroicons. scripts/assets.ts puts them into the style sheet. */
export const SECTION_ICONS: Record<SectionName, string> = {
  overview: 'home',
  notices: 'bell',
  changes: 'arrow-path',
  'webhooks-out': 'paper-airplane',
  events: 'inbox-arrow-down',
  connections: 'link',
  replays: 'arrow-uturn-right',
  health: 'heart',
  subscriptions: 'calendar-days',
  invoices: 'document-text',
  'payment-methods': 'credit-card',
  purchases: 'shopping-bag',
  plans: 'rectangle-stack',
  features: 'puzzle-piece',
  consumers: 'users',
  unlinked: 'link-slash',
  general: 'cog-6-tooth',
  keys: 'key',
  members: 'user-group',
  domains: 'globe-alt',
  sso: 'lock-closed',
  audit: 'clipboard-document-list',
  reference: 'book-open',
  projects: 'folder',
  sessions: 'computer-desktop',
  passkeys: 'finger-print',
}

/** The icon of the link to the documentation of a page. */
export const DOCS_ICON = 'question-mark-circle'

/** The icon of the search where there is no room for its name. */
export const SEARCH_ICON = 'magnifying-glass'

/** The icons of the button that copies an id, before and after: assets/copy.js. */
export const COPY_ICONS = ['document-duplicate', 'check'] as const
