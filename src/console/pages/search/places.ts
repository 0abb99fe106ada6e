import type { FoundObject } from '../../../search/fields'
import type { SearchHit } from '../../../search/read'
import type { SearchText } from '../../../search/text'
import { VENDORS } from '../../../vendors'
import type { Vendor } from '../../../vendors/vendor'
import { devicesPath, objectPath } from '../../object-paths'
import { type ProjectPaths, projectPaths } from '../../paths'
import type { SignedIn } from '../../session'
import { amountIn, asWords } from '../../ui/format'
import { OTHER_DOCS } from '../../ui/frame/docs'
import { groupsFor } from '../../ui/frame/sections'
import { SETTING_PLACES } from '../general/settings'
import { tabPath } from '../general/tabs'

/** Something that a search leads to. */
export type Destination = { kind: string; title: string; detail: string | null; to: string; livemode?: boolean | null }

/** What each type is called. */
const KINDS: Record<FoundObject['type'], string> = {
  consumer: 'Consumer',
  grant: 'Grant',
  device: 'Device',
  customer: 'Customer',
  subscription: 'Subscription',
  invoice: 'Invoice',
  payment_method: 'Payment method',
  purchase: 'Purchase',
  event: 'Event',
  replay: 'Replay',
  plan: 'Plan',
  feature: 'Feature',
  api_key: 'API key',
  connection: 'Connection',
  import: 'Import',
  webhook_endpoint: 'Webhook endpoint',
  member: 'Member',
  invitation: 'Invitation',
  domain: 'Domain',
  sso_connection: 'Single sign-on',
  audit_entry: 'Audit log',
  project: 'Project',
}

/** The types whose detail is a status or a role. */
const IN_WORDS: ReadonlySet<FoundObject['type']> = new Set([
  'subscription',
  'invoice',
  'payment_method',
  'purchase',
  'event',
  'webhook_endpoint',
  'member',
  'invitation',
  'domain',
  'project',
])

/** The page of an object that was found. */
export function destinationOf(paths: ProjectPaths, found: SearchHit): Destination {
  const { type, title, livemode } = found
  return { kind: KINDS[type], title, detail: detailOf(found), livemode, to: pathTo(paths, found) }
}

/** Of a billing object: its amount, whose it is, its status, and whether it is overdue. An invoice that is overdue is open. */
function detailOf({ type, detail, about }: SearchHit): string | null {
  const said = detail !== null && IN_WORDS.has(type) ? asWords(detail) : detail
  if (about === null) return said
  const { total, currency, named, overdue } = about
  const standing = overdue ? [type === 'invoice' ? null : said, asWords('overdue')] : [said]
  const all = [amountIn('total', total, currency), named.consumer?.title ?? named.customer, ...standing]
  return all.filter((one) => one !== null).join(' · ')
}

function pathTo(paths: ProjectPaths, { type, id, detail, vendor, consumer_id }: FoundObject): string {
  switch (type) {
    case 'project':
      return projectPaths(id).start
    case 'import':
      return `${paths.connections}/${detail}`
    case 'grant':
      return `${paths.consumers}/${consumer_id}/grants`
    case 'device':
      return devicesPath(paths, consumer_id ?? '')
    case 'audit_entry':
      return `${paths.audit}?object_id=${encodeURIComponent(detail?.split(' ')[1] ?? '')}`
    default:
      return objectPath(paths, { type, id, vendor })
  }
}

type Reached = [label: string, needs: SignedIn['scopes'][number], to: (paths: ProjectPaths) => string, also?: string]
/** What a user can begin, in the words of its button. `also`: other words that find it. */
const ACTIONS: readonly Reached[] = [
  ['Create an API key', 'api_keys:write', ({ keys }) => `${keys}/new`, 'mint'],
  ['Revoke an API key', 'api_keys:write', ({ keys }) => keys, 'delete disable'],
  ['Rotate an API key', 'api_keys:write', ({ keys }) => keys, 'replace renew'],
  ['Create a connection', 'connections:write', ({ connections }) => `${connections}/new`],
  ['Invite a member', 'members:write', ({ members }) => `${members}/invitations`],
  ['Create a plan', 'catalog:write', ({ plans }) => `${plans}/new`],
  ['Create a feature', 'catalog:write', ({ features }) => `${features}/new`],
  ['Create a consumer', 'consumers:write', ({ consumers }) => `${consumers}/new`],
  ['Merge consumers', 'consumers:write', ({ consumers }) => consumers, 'duplicate'],
  ['Erase a consumer', 'consumers:erase', ({ consumers }) => consumers, 'delete remove gdpr'],
  ['Create a webhook endpoint', 'webhooks:write', ({ endpoints }) => `${endpoints}/new`],
  ['Add a domain', 'domains:write', ({ domains }) => domains],
  ['Replay events', 'billing:write', ({ events }) => events],
  ['Sign out', 'projects:read', accountMenu, 'log logout'],
]
/** What only an owner can begin. */
const OF_OWNERS: typeof ACTIONS = [['Delete this project', 'projects:write', ({ general }) => `${general}/delete`]]

/** Parts of pages. */
const VIEWS: typeof ACTIONS = [
  ['Failed events', 'billing:read', ({ events }) => `${events}?status=failed`, 'failures errors'],
  [
    'Past due subscriptions',
    'billing:read',
    ({ billing }) => `${billing}/subscriptions?status=past_due`,
    'unpaid dunning',
  ],
  ['Trialing subscriptions', 'billing:read', ({ billing }) => `${billing}/subscriptions?status=trialing`, 'trials'],
  [
    'Canceled subscriptions',
    'billing:read',
    ({ billing }) => `${billing}/subscriptions?status=canceled`,
    'churn cancelled lost',
  ],
  ['Refunded purchases', 'billing:read', ({ billing }) => `${billing}/purchases?status=refunded`, 'refunds'],
  [
    'Disputed purchases',
    'billing:read',
    ({ billing }) => `${billing}/purchases?status=disputed`,
    'disputes chargebacks',
  ],
  ['Blocked consumers', 'consumers:read', ({ consumers }) => `${consumers}?state=blocked`, 'banned suspended'],
  ['Prices without a plan', 'catalog:read', ({ plans }) => plans, 'unmapped'],
  ['Overdue invoices', 'billing:read', ({ billing }) => `${billing}/invoices?overdue=true`, 'unpaid late'],
  ['Overdue subscriptions', 'billing:read', ({ billing }) => `${billing}/subscriptions?overdue=true`, 'late renewals'],
  ['Signing secrets', 'connections:read', ({ connections }) => connections, 'webhook'],
  ['Theme', 'projects:read', accountMenu, 'dark light mode colors'],
]

/** A browser opens the menu, because the address names a part of it. */
function accountMenu({ start }: ProjectPaths): string {
  return `${start}#account`
}

/** Other words that find a setting, by its name in the API. */
const ALSO: Record<string, string> = {
  link_hints: 'unlinked',
  consumer_keys: 'external custom data user',
  max_devices: 'limit maximum',
  grace_days: 'grace period dunning unpaid late',
  renewal_slack_hours: 'grace period renewal',
  test_mode_counts: 'sandbox',
  subscription_reversed: 'refunds chargebacks disputes',
  default_plan: 'free',
  require_passkey: 'two-factor second factor 2fa mfa',
  on_exposure: 'leaked compromised stolen',
}

/** The most settings that a search lists. */
const SETTINGS_SHOWN = 5

/** Settings of the project by the words of their labels, by their names in the API, or by other words. */
export function settingsNamed(user: SignedIn, paths: ProjectPaths, text: string): Destination[] {
  if (!user.scopes.includes('projects:write')) return []
  const asked = text.replaceAll('_', ' ')
  const mine = SETTING_PLACES.filter(({ role }) => role === undefined || role === user.role)
  return mine
    .filter(({ label, setting }) =>
      beginAlike(`${label} ${setting.replaceAll('_', ' ')} ${ALSO[setting] ?? ''}`, asked),
    )
    .slice(0, SETTINGS_SHOWN)
    .map(({ field, label, tab }) => ({
      kind: 'Setting',
      title: label,
      detail: 'General',
      to: `${tabPath(paths, tab)}#${field}`,
    }))
}

/**
 * The actions, pages and documentation with words that begin as the words of the text do, first those whose titles have them. All pages if
 * the text is empty.
 */
export function pagesNamed(user: SignedIn, paths: ProjectPaths, text: string): Destination[] {
  const pages = groupsFor(user).flatMap(({ label, sections }) =>
    sections.map(({ label: title, path }) => ({ kind: 'Page', title, detail: label, to: path(paths) })),
  )
  if (text === '') return pages
  const reached = (kind: string, all: typeof ACTIONS) =>
    all
      .filter(([title, needs, , also = '']) => user.scopes.includes(needs) && beginAlike(`${title} ${also}`, text))
      .map(([title, , to]): Destination => ({ kind, title, detail: null, to: to(paths) }))
  const docs = OTHER_DOCS.filter(([title, , words]) => beginAlike(`${title} ${words}`, text)).map(
    ([title, to]): Destination => ({ kind: 'Docs', title, detail: null, to }),
  )
  const all = [
    ...reached('Action', user.role === 'owner' && wantsToDelete(text) ? [...ACTIONS, ...OF_OWNERS] : ACTIONS),
    ...pages.filter(({ title }) => beginAlike(title, text)),
    ...reached('Page', VIEWS),
    ...docs,
  ]
  const isTitled = ({ title }: Destination) => beginAlike(title, text)
  return [...all.filter(isTitled), ...all.filter((one) => !isTitled(one))]
}

/** Whoever looks for a project or for the plan “Pro” is not led to a deletion first. */
function wantsToDelete(text: string): boolean {
  return wordsOf(text).some((typed) => 'delete'.startsWith(typed))
}

const wordsOf = (text: string) => text.toLowerCase().split(/\s+/)

function beginAlike(title: string, text: string): boolean {
  const words = title.toLowerCase().split(/\W+/)
  return wordsOf(text).every((typed) => words.some((word) => word.startsWith(typed)))
}

const EVENT_TYPES = Object.values(VENDORS).flatMap(({ endpoints }: Vendor) =>
  endpoints ? [...endpoints.needed, ...endpoints.useful] : [],
)
/** Fewer characters of a type begin too many of them. */
const FEWEST_OF_TYPE = 4

/** The events of a type, if a vendor has types that begin with a text, such as `invoice.pa`. */
export function eventsOfType(user: SignedIn, paths: ProjectPaths, text: string): Destination[] {
  const begins = text.toLowerCase()
  if (begins.length < FEWEST_OF_TYPE || !user.scopes.includes('billing:read')) return []
  if (!EVENT_TYPES.some((type) => type.startsWith(begins))) return []
  return [{ kind: 'Events', title: `Events of type “${text}”`, detail: null, to: eventsWith(paths, text) }]
}

function eventsWith({ events }: ProjectPaths, text: string): string {
  return `${events}?q=${encodeURIComponent(text)}`
}

/** Where else to look for a text that has no page: among the events, and among the changes to an object of ours. */
export function listsFor(user: SignedIn, paths: ProjectPaths, { text, id }: SearchText): Destination[] {
  const inEvents = {
    kind: 'Events',
    title: `Search events for “${text}”`,
    detail: null,
    to: eventsWith(paths, text),
  }
  const inLog = { kind: 'Audit log', title: `Changes to ${text}`, detail: null, to: `${paths.audit}?object_id=${text}` }
  return [
    ...(id !== null && user.scopes.includes('audit_log:read') ? [inLog] : []),
    ...(user.scopes.includes('billing:read') ? [inEvents] : []),
  ]
}
