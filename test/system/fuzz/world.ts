import { randomBytes } from 'node:crypto'
import { must } from '../../../scripts/lib/api.ts'
import { awaitFinal, deliver, type Inbox, isReceipt } from '../../../scripts/lib/deliver.ts'
import { GENERATED_VENDORS } from '../../../scripts/lib/generated.ts'
import { connect } from '../../../scripts/lib/inbox.ts'
import { newSigningSecret } from '../../../scripts/lib/sign.ts'
import { signIn } from '../../../scripts/lib/sign-in.ts'
import { story } from '../../../scripts/lib/story.ts'

type Minted = { key: { id: string }; secret: string }
/** `mark` is in every name and payload of the tenant, and nowhere else. */
export type Tenant = {
  mark: string
  email: string
  token: string
  /** The id of the session of `token`. No request names it, so that nothing ends it. */
  session: string
  project: string
  key: string
  inboxes: Inbox[]
  ids: Pool
}
/** Ids by prefix (`key`, `evt`, …); `vendor` holds vendors' ids and `cursor` cursors. */
export type Pool = Record<string, string[]>

const MOST = 60
/** What each read of the state writes. */
const LAST_USE = ['last_used_at', 'last_used']
const ID = /"([a-z]{3}_[0-9a-z]{26,30})"/g
const SPARE_SESSIONS = 8

/** Creates a tenant with keys, a consumer with a granted plan, a connection of each vendor, events, billing objects and a replay. */
export async function newTenant(url: string, name: string): Promise<Tenant> {
  const mark = `mark${name}${randomBytes(12).toString('hex')}`
  const email = `${mark}@example.com`
  const { token } = await signIn(url, email)
  const api = `${url}/platform/v1`
  const { id: project } = await must<{ id: string }>(`${api}/projects`, { token, json: { name: mark } })
  const as = { token, project }
  const { secret } = await must<Minted>(`${api}/api-keys`, { ...as, json: { name: `${mark} first` } })
  await must<Minted>(`${api}/api-keys`, { ...as, json: { name: `${mark} second`, scopes: ['billing:read'] } })
  await must(`${api}/consumers`, { ...as, json: { external_id: mark, name: mark, email } })
  const device = { platform: 'ios', name: mark }
  await must(`${api}/consumers/ext:${mark}/devices/${mark}`, { ...as, method: 'PUT', json: device })
  await must(`${api}/billing/features/seats`, { ...as, method: 'PUT', json: { name: mark, type: 'quantity' } })
  await must(`${api}/billing/plans`, { ...as, json: { key: mark, name: mark, features: { seats: { value: 5 } } } })
  await must(`${api}/billing/grants`, { ...as, json: { consumer: `ext:${mark}`, plan: mark, reason: mark } })
  await newEndpoints(api, as, mark)
  const inboxes: Inbox[] = []
  for (const vendor of GENERATED_VENDORS) {
    inboxes.push(await connect({ url, vendor, token, project }, `${mark} ${vendor}`, newSigningSecret(vendor)))
  }
  const { session } = await must<{ session: { id: string } }>(`${url}/auth/sessions/current`, { token })
  const tenant: Tenant = { mark, email, token, session: session.id, project, key: secret, inboxes, ids: {} }
  await sendStory(tenant)
  await learn(url, tenant)
  return tenant
}

/** Creates an endpoint for changes and a relay, which nothing is sent to, and a resend. */
async function newEndpoints(api: string, as: { token: string; project: string }, mark: string): Promise<void> {
  for (const kind of [{ types: ['consumer.*'], include_object: true }, { relay: { replays: true } }]) {
    const json = { url: `https://${mark.slice(-20)}.plain.dev/${mark}`, ...kind }
    const { endpoint } = await must<{ endpoint: { id: string } }>(`${api}/webhook-endpoints`, { ...as, json })
    const at = `${api}/webhook-endpoints/${endpoint.id}`
    await must(at, { ...as, method: 'PATCH', json: { state: 'disabled' } })
    await must(`${at}/resend`, { ...as, json: { after: 0, until: 1, failed_only: true } })
  }
}

/** Sessions that requests may end, so that the main session stays alive. */
export async function spareSessions(url: string, { email }: Tenant): Promise<string[]> {
  const tokens: string[] = []
  for (let i = 0; i < SPARE_SESSIONS; i++) tokens.push((await signIn(url, email)).token)
  return tokens
}

/** Sessions of users who have no other, for requests that end all sessions of a user. */
export async function loneSessions(url: string, { email }: Tenant): Promise<string[]> {
  const tokens: string[] = []
  for (let i = 0; i < SPARE_SESSIONS; i++) tokens.push((await signIn(url, `alone${i}.${email}`)).token)
  return tokens
}

async function sendStory({ mark, inboxes }: Tenant): Promise<void> {
  const stripe = inboxes.find(({ vendor }) => vendor === 'stripe')
  if (!stripe) throw new Error('no Stripe connection was created')
  const ids: string[] = []
  for (const { name, body } of story().month) {
    const event = JSON.parse(body.toString('utf8'))
    event.data.object.metadata = { mark }
    event.data.object.description = mark
    if ('number' in event.data.object) event.data.object.number = mark
    const answer = await deliver(stripe, name, Buffer.from(JSON.stringify(event)))
    if (!isReceipt(answer)) throw new Error(`${name} was not accepted: ${answer.status}`)
    ids.push(...answer.body.event_ids)
  }
  await awaitFinal(stripe, ids, 60_000)
}

/** Reads the tenant's data and remembers its ids. */
async function learn(url: string, tenant: Tenant): Promise<void> {
  const { mark, token, project, ids } = tenant
  const api = `${url}/platform/v1`
  await must(`${api}/billing/webhooks/replay`, { token, project, json: { filter: {}, limit: 1 } })
  const devices = `/platform/v1/consumers/ext:${mark}/devices`
  for (const path of [...READS, devices])
    remember(ids, JSON.stringify(await must(url + path, { token, project })), tenant.session)
  for (const kind of ['subscriptions', 'invoices', 'payment-methods']) {
    const { data } = await must<{ data: { id: string }[] }>(`${api}/billing/${kind}`, { token, project })
    for (const { id } of data) add(ids, 'vendor', id)
  }
}

const READS = [
  '/platform/v1/api-keys?limit=1',
  '/platform/v1/projects',
  '/platform/v1/audit-log?limit=50',
  '/platform/v1/consumers',
  '/platform/v1/billing/plans',
  '/platform/v1/billing/grants',
  '/platform/v1/billing/connections?limit=100',
  '/platform/v1/webhook-endpoints',
  '/platform/v1/changes?after=latest',
  '/platform/v1/billing/webhooks?limit=3',
  '/auth/sessions',
]

/** Keeps the ids and cursors of a response for later requests. */
export function remember(ids: Pool, text: string, except: string): void {
  for (const [, id = ''] of text.matchAll(ID)) if (id !== except) add(ids, id.slice(0, 3), id)
  for (const [, cursor = ''] of text.matchAll(/"next_cursor":"([^"]+)"/g)) add(ids, 'cursor', cursor)
}

function add(ids: Pool, pool: string, id: string): void {
  const known = ids[pool] ?? []
  ids[pool] = known
  if (known.includes(id)) return
  if (known.length >= MOST) known.shift()
  known.push(id)
}

/** All data of a tenant that no other tenant may change, without the times of last use, which change on every read. */
export async function stateOf(url: string, { mark, token, project, inboxes }: Tenant): Promise<string> {
  const as = { token, project }
  const api = `${url}/platform/v1`
  const parts: unknown[] = []
  for (const path of [
    '/api-keys?limit=100',
    `/projects/${project}`,
    '/audit-log?limit=100',
    '/consumers?limit=100',
    `/consumers/ext:${mark}/devices?limit=100`,
    '/billing/customers?limit=100',
    '/billing/features?limit=100',
    '/billing/plans?limit=100',
    '/billing/grants?limit=100',
    '/billing/connections?limit=100',
    '/webhook-endpoints?limit=100',
    '/billing/webhooks?limit=100',
    '/billing/subscriptions?limit=100',
    '/billing/invoices?limit=100',
    '/billing/payment-methods?limit=100',
  ]) {
    parts.push(await must(api + path, as))
  }
  for (const { connection } of inboxes) parts.push(await must(`${api}/billing/connections/${connection}`, as))
  return JSON.stringify(parts, (name, value) => (LAST_USE.includes(name) ? 0 : value))
}
