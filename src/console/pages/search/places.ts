import type { FoundObject } from '../../../search/fields'
import type { Typed } from '../../../search/typed'
import { type ProjectPaths, projectPaths } from '../../paths'
import type { SignedIn } from '../../session'
import { groupsFor } from '../../ui/frame/sections'

/** Something that a search leads to. */
export type Place = { kind: string; title: string; detail: string | null; to: string }

/** What each type is called, and the path of its page. */
const PAGES: Record<FoundObject['type'], [kind: string, to: (paths: ProjectPaths, found: FoundObject) => string]> = {
  consumer: ['Consumer', (paths, { id }) => `${paths.consumers}/${id}`],
  customer: ['Customer', ({ billing }, { id, vendor }) => `${billing}/customers/${vendor}/${encodeURIComponent(id)}`],
  subscription: ['Subscription', (paths, found) => ofVendor(paths, 'subscriptions', found)],
  invoice: ['Invoice', (paths, found) => ofVendor(paths, 'invoices', found)],
  payment_method: ['Payment method', (paths, found) => ofVendor(paths, 'payment-methods', found)],
  event: ['Event', (paths, { id }) => `${paths.events}/${id}`],
  replay: ['Replay', (paths, { id }) => `${paths.replays}/${id}`],
  plan: ['Plan', (paths, { id }) => `${paths.plans}/${id}`],
  feature: ['Feature', (paths) => paths.features],
  api_key: ['API key', (paths, { id }) => `${paths.keys}/${id}`],
  connection: ['Connection', (paths, { id }) => `${paths.connections}/${id}`],
  import: ['Import', (paths, { detail }) => `${paths.connections}/${detail}`],
  webhook_endpoint: ['Webhook endpoint', (paths, { id }) => `${paths.endpoints}/${id}`],
  member: ['Member', (paths) => paths.members],
  invitation: ['Invitation', (paths) => `${paths.members}/invitations`],
  domain: ['Domain', (paths, { id }) => `${paths.domains}/${id}`],
  sso_connection: ['Single sign-on', (paths, { id }) => `${paths.sso}/${id}`],
  audit_entry: [
    'Audit log',
    ({ audit }, { detail }) => `${audit}?object_id=${encodeURIComponent(detail?.split(' ')[1] ?? '')}`,
  ],
  project: ['Project', (_, { id }) => projectPaths(id).start],
}

function ofVendor({ billing }: ProjectPaths, list: string, { id, vendor }: FoundObject): string {
  return `${billing}/${list}/${encodeURIComponent(id)}?vendor=${vendor}`
}

/** The page of an object that was found. */
export function placeOf(paths: ProjectPaths, found: FoundObject): Place {
  const [kind, to] = PAGES[found.type]
  return { kind, title: found.title, detail: found.detail, to: to(paths, found) }
}

type Action = [label: string, needs: SignedIn['scopes'][number], to: (paths: ProjectPaths) => string]
/** What a user can begin, in the words of its button. */
const ACTIONS: readonly Action[] = [
  ['Mint an API key', 'api_keys:write', ({ keys }) => `${keys}/new`],
  ['Create a connection', 'connections:write', ({ connections }) => `${connections}/new`],
  ['Invite a member', 'members:write', ({ members }) => `${members}/invitations`],
  ['Create a plan', 'catalog:write', ({ plans }) => `${plans}/new`],
  ['Create a feature', 'catalog:write', ({ features }) => `${features}/new`],
  ['Create a consumer', 'consumers:write', ({ consumers }) => `${consumers}/new`],
  ['Create a webhook endpoint', 'webhooks:write', ({ endpoints }) => `${endpoints}/new`],
  ['Add a domain', 'domains:write', ({ domains }) => domains],
  ['Replay events', 'billing:write', ({ events }) => events],
]

/** The pages and actions whose words begin as the words of the text do. All pages if the text is empty. */
export function pagesNamed(user: SignedIn, paths: ProjectPaths, text: string): Place[] {
  const pages = groupsFor(user).flatMap(({ label, sections }) =>
    sections.map(({ label: title, path }) => ({ kind: 'Page', title, detail: label, to: path(paths) })),
  )
  const actions = ACTIONS.filter(([, needs]) => user.scopes.includes(needs)).map(([title, , to]) => ({
    kind: 'Action',
    title,
    detail: null,
    to: to(paths),
  }))
  if (text === '') return pages
  return [...actions, ...pages].filter(({ title }) => beginAlike(title, text))
}

function beginAlike(title: string, text: string): boolean {
  const words = title.toLowerCase().split(/\W+/)
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((typed) => words.some((word) => word.startsWith(typed)))
}

/** Where else to look for a text that has no page: among the events, and among the changes to an object of ours. */
export function listsFor(user: SignedIn, paths: ProjectPaths, { text, id }: Typed): Place[] {
  const inEvents = {
    kind: 'Events',
    title: `Search events for “${text}”`,
    detail: null,
    to: `${paths.events}?q=${encodeURIComponent(text)}`,
  }
  const inLog = { kind: 'Audit log', title: `Changes to ${text}`, detail: null, to: `${paths.audit}?object_id=${text}` }
  return [
    ...(id !== null && user.scopes.includes('audit_log:read') ? [inLog] : []),
    ...(user.scopes.includes('billing:read') ? [inEvents] : []),
  ]
}
