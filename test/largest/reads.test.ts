import { beforeAll, describe, expect, it } from 'vitest'
import { MAX_ENTRIES_LOOKED_AT } from '../../src/audit-log/filters'
import { MAX_PLANS, MAX_PRICES_OF_PLAN } from '../../src/catalog/limits'
import { MAX_CUSTOMERS_COUNTED } from '../../src/consumers/limits'
import { MOST_COUNTED } from '../../src/db/total'
import { MAX_SUBSCRIPTION_ITEMS } from '../../src/entitlements/limits'
import { MAX_ROWS_LOOKED_AT } from '../../src/feed/limits'
import { MAX_TOOL_ANSWER_BYTES } from '../../src/mcp/limits'
import { TOOLS } from '../../src/mcp/tools'
import { stopClock } from '../clock'
import { type Answer, BESIDE, countingD1 } from '../harness'
import type { World } from '../routes/world'
import { CALLS, EXPLAINED, TOOL, WHOLE_CHANGED } from './calls'
import { largestProject, MANY, MEMBERS } from './largest'

/*
 * Every call that reads, in the largest project that the limits allow: what it costs must not depend on how much a project
 * has, but on what one answer shows.
 */

const MAX_BYTES = 4 * 1024 * 1024
/** A download is sent page by page. This is as many as 20,000 rows of it take. */
const MAX_FILE_BYTES = 20 * 1024 * 1024
/** The answer of a tool, as an object and as text, in which each quotation mark takes two bytes more. */
const MAX_TOOL_BYTES = 3 * MAX_TOOL_ANSWER_BYTES
/** What a call may cost if nothing else is stated: round trips to D1, statements, and rows that they read. */
const USUAL = { trips: 5, statements: 12, rows: 700 }
type Bounds = Partial<typeof USUAL>

const SETTINGS = 'GET /console/p/:project/platform/settings'
const BILLING = 'GET /console/p/:project/platform/billing'
const CONSUMER = 'GET /console/p/:project/platform/consumers/:consumer'
/** A row for each member and its user: they name who minted a key or made a change. */
const PEOPLE = 2 * MEMBERS + 200
/** The rows of an index that a list counts. */
const COUNTED = MOST_COUNTED + 1
/** An object's entries in the audit log are looked for among so many, each with the key or invitation that it names. */
const LOG = 2 * MAX_ENTRIES_LOOKED_AT + PEOPLE

/** The status of what is no 200: too large to explain; refused in any project, because of what the request lacks. */
const STATUS: Record<string, number> = {
  [EXPLAINED]: 413,
  // Its sample lacks plans that this project has.
  'POST /platform/v1/billing/catalog/preview': 422,
  'POST /platform/v1/consumers/:consumer/entitlements/token': 201,
  'GET /metrics': 404,
  'GET /console/invitations/:id': 404,
  'GET /auth/sign-in': 401,
  'GET /sso/login/:login_id': 400,
  'GET /sso/callback/:connection_id': 400,
}
/** The code of a tool's refusal; undefined if it answers. */
function refusalOf(text: string): string | undefined {
  const { isError, content } = JSON.parse(text).result
  return isError ? JSON.parse(content[0].text).code : undefined
}

/** Prices and products of all plans. */
const PRICES = MAX_PLANS * MAX_PRICES_OF_PLAN + 500
/** Each is read with the plan of its price; a large catalog takes a second read of it all. */
const ITEMS = 2 * (2 * MAX_SUBSCRIPTION_ITEMS + 4_000)

/** A download reads up to a hundred pages, with as many statements as D1 answers in one request. */
const DOWNLOAD = { trips: 300, statements: 600, rows: 100_000 }
const DOWNLOADS = [
  ...['webhooks', 'subscriptions', 'invoices', 'payment-methods', 'purchases'].map((list) => `${BILLING}/${list}/csv`),
  'GET /console/p/:project/platform/consumers/csv',
  'GET /console/p/:project/platform/changes/csv',
  `${SETTINGS}/audit-log/csv`,
]

/** What else is allowed, and why. */
const STATED: Record<string, Bounds> = {
  ...Object.fromEntries(DOWNLOADS.map((name) => [name, DOWNLOAD])),
  'GET /platform/v1/api-keys': { rows: PEOPLE },
  'GET /platform/v1/api-keys/:id': { rows: PEOPLE },
  [`${SETTINGS}/api-keys`]: { rows: PEOPLE },
  // With how the key was used, a trip more.
  [`${SETTINGS}/api-keys/:id`]: { trips: 7, rows: LOG },
  // Every key that the project ever had: a revoked one may have handed its secret on.
  [`${SETTINGS}/api-keys/revoke`]: { rows: MANY + 500 },
  // Then the traffic of the keys that go with it, as on the page that rotates it.
  [`${SETTINGS}/api-keys/:id/revoke`]: { trips: 7, rows: MANY + 500 },
  [`${SETTINGS}/api-keys/:id/rotate`]: { trips: 7 },
  // Every invitation that was ever sent, for those that have expired.
  [`${SETTINGS}/members`]: { trips: 6, rows: MANY + 2_000 },
  [`${SETTINGS}/members/invitations`]: { trips: 6 },
  [`${SETTINGS}/members/leave`]: { rows: MEMBERS + 500 },
  [`${SETTINGS}/sso/:id/enforce`]: { rows: MEMBERS + 500 },
  // With the revisions of plans and the features that the entries name, for what they changed.
  [`${SETTINGS}/audit-log`]: { trips: 9 + BESIDE, statements: 14 + 2 * BESIDE, rows: COUNTED + PEOPLE + 500 },
  // As the audit log: any member may have made a change.
  // Without webhook events, it looks at more rows than it shows. D1 counts each about four times.
  'GET /console/p/:project/platform/changes': { trips: 6, statements: 14, rows: PEOPLE + 4 * MAX_ROWS_LOOKED_AT + 500 },
  [`${CONSUMER}/identities/:identity/remove`]: { trips: 6, rows: PEOPLE + 100 },
  // A pinned customer shows its consumer's first external id; a hundred customers, and a hundred external ids.
  'GET /platform/v1/consumers/:consumer': { rows: 2_000 },
  'GET /platform/v1/billing/customers': { rows: 2_300 },
  // With the unlinked ones among the first customers.
  'GET /console/p/:project/platform/consumers/unlinked': { rows: 2_800 + 12 * MAX_CUSTOMERS_COUNTED },
  // Its objects of each kind, its own row, its consumer and its events.
  [`${BILLING}/customers/:vendor/:customer`]: { statements: 15 },
  // Payloads are measured before they are read, so a page of them takes a trip more.
  'GET /platform/v1/billing/webhooks': { rows: 1_600 },
  'GET /platform/v1/billing/webhooks/search': { rows: 2_200 },
  // The names of consumers, and of customers without one, are a trip.
  [`${BILLING}/webhooks`]: { trips: 8, statements: 14 },
  // The events beside it in its list, and the one that it is compared with.
  [`${BILLING}/webhooks/:event`]: { trips: 6, statements: 15 },
  [`${BILLING}/webhooks/replay`]: { trips: 6, rows: 6_000 },
  [`${BILLING}/webhooks/replays`]: { trips: 6 },
  [`${BILLING}/webhooks/replays/:replay`]: { trips: 6 },
  // A thousand purchases without items.
  'GET /platform/v1/billing/webhooks/health': { statements: 23 + BESIDE, rows: 1_500 },
  // With the unlinked ones among the first customers: each is looked for in the indexes of five kinds, and its link is read.
  'GET /console/p/:project/status': { statements: 24 + BESIDE, rows: 1_500 + 12 * MAX_CUSTOMERS_COUNTED },
  [`${BILLING}/webhooks/health`]: { trips: 5 + BESIDE, statements: 29 + BESIDE, rows: 1_500 },
  // The first events of a connection, and its newest one.
  [`${BILLING}/connections/:id`]: { statements: 18, rows: 2_000 },
  [`${BILLING}/connections/:id/first`]: { rows: 2_000 },
  'GET /platform/v1/billing/connections/:id/refusals': { rows: 2_000 },
  // What a page of a timeline looks at among the events that name the object.
  'GET /platform/v1/billing/subscriptions/:id/timeline': { rows: 3_500 },
  [`${BILLING}/subscriptions/:object`]: { rows: 3_500 },
  // Beside the purchase and its timeline, the rules of the project and the other purchases of the consumer.
  [`${BILLING}/purchases/:object`]: { statements: 14 },
  // Beside each subscription, the consumer of its customer and the plans of its items.
  [`${BILLING}/subscriptions`]: { rows: COUNTED + 1_000 },
  [`${BILLING}/invoices`]: { rows: COUNTED + 700 },
  [`${BILLING}/payment-methods`]: { rows: COUNTED + 700 },
  [`${BILLING}/purchases`]: { rows: COUNTED + 700 },
  'GET /console/p/:project/platform/consumers': { rows: COUNTED + 700 },
  // Up to 500 subscriptions are read to count them, each with the link of its customer; and 500 invoices.
  'GET /console/p/:project': { statements: 38, rows: 4_600 },
  'GET /console/p/:project/steps': { statements: 26, rows: 2_000 },
  // The items of the consumer's subscriptions, each with the plan of its price: 9,000 here, of 10,000 that a call looks at.
  'GET /platform/v1/consumers/:consumer/entitlements': { trips: 3, statements: 17, rows: ITEMS },
  [EXPLAINED]: { statements: 17, rows: ITEMS },
  'POST /platform/v1/consumers/:consumer/entitlements/token': { trips: 4, statements: 17, rows: ITEMS },
  'POST /platform/v1/billing/entitlements/check': { rows: ITEMS },
  [`${CONSUMER}/entitlements`]: { statements: 20, rows: ITEMS },
  // Beside what it may do, its identities, and the entries of the audit log that name it.
  [CONSUMER]: { trips: 9, statements: 51, rows: ITEMS + 10_000 },
  // Every member with the address.
  'GET /platform/v1/search': { statements: 26, rows: 2 * MEMBERS + 1_000 },
  // Every price of the project; beside the plans, the items of the newest subscriptions, for prices that no plan has.
  'GET /platform/v1/billing/plans': { rows: PRICES },
  'GET /platform/v1/billing/plans/:id': { rows: PRICES },
  'GET /platform/v1/billing/plans/unmapped-prices': { rows: PRICES + 20_000 },
  [`${BILLING}/plans`]: { rows: 2 * PRICES + 20_000 },
  [`${BILLING}/plans/new`]: { rows: PRICES + 20_000 },
  // Beside its history, at the same time, the items of the newest subscriptions, for what its prices cost and how many have them.
  [`${BILLING}/plans/:plan`]: { trips: 6, statements: 14, rows: PRICES + LOG + 20_000 },
  [`${BILLING}/plans/:plan/edit`]: { rows: PRICES },
  // The keys of the features that each plan gives.
  [`${BILLING}/features`]: { rows: 10_500 },
  [`${CONSUMER}/grants/new`]: { rows: 11_000 },
  // A costly call: a part of the subscriptions, with all that their consumers have.
  'POST /platform/v1/billing/plans/:id/preview': { statements: 30, rows: 100_000 },
  [WHOLE_CHANGED]: { trips: 6, statements: 40, rows: 150_000 },
  // Everything that the catalog has.
  'GET /platform/v1/billing/catalog': { rows: PRICES + 1_000 },
  'POST /platform/v1/billing/catalog/preview': { rows: PRICES + 1_000 },
}

/** The call that a tool makes: it may cost as much. */
function calledBy(name: string): string {
  const tool = TOOLS.get(name.replace(`${TOOL} `, ''))
  return tool?.call.replace(':connection_id', ':id') ?? name
}

let world: World
beforeAll(async () => {
  world = await largestProject()
  stopClock() // once a minute, a key's use is written, which would be a statement more
})

async function costOf(ask: (bindings: object) => Promise<Pick<Answer, 'status' | 'text'>>) {
  const { DB, count } = countingD1()
  const { status, text } = await ask({ DB })
  const { trips, statements, rows_read: rows } = count
  return { status, bytes: new TextEncoder().encode(text).byteLength, trips, statements, rows, text }
}

describe('in the largest project', () => {
  it.each(CALLS)('%s', async (name, ask) => {
    const { status, text, bytes, ...cost } = await costOf((bindings) => ask(world, bindings))
    expect(status, text.slice(0, 300)).toSatisfy((one) => (STATUS[name] ?? 200) === one || one === 303)
    if (name.startsWith(TOOL)) expect(refusalOf(text)).toBeUndefined()
    const most = name.startsWith(TOOL) ? MAX_TOOL_BYTES : DOWNLOADS.includes(name) ? MAX_FILE_BYTES : MAX_BYTES
    expect(bytes).toBeLessThanOrEqual(most)
    const bounds = { ...USUAL, ...STATED[name], ...STATED[calledBy(name)] }
    const over = Object.entries(cost).filter(([what, n]) => n > bounds[what as keyof typeof USUAL])
    expect(over, JSON.stringify(cost)).toEqual([])
  })
})
