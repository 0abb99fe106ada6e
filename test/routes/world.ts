import type { RouteEntry } from '../../src/http/openapi'
import { vendorKeyContext } from '../../src/inbox/vendor-api/keys'
import { newConnectionId, newId } from '../../src/lib/ids'
import { seal, sealContext } from '../../src/lib/seal'
import { insertObjects } from '../billing/rows'
import { insertFeatures, insertPlan } from '../catalog/rows'
import { insertConsumer, insertErased } from '../consumers/rows'
import { insertDevice } from '../devices/rows'
import { insertDomain } from '../domains/rows'
import { insertEndpoint, KEY_RING } from '../endpoints/rows'
import { insertGrants } from '../entitlements/rows'
import {
  addMember,
  changeAccount,
  DIRECTORY,
  deliver,
  freshKey,
  invited,
  lossyQueue,
  mint,
  ORDINARY,
  STORE,
  STORE_NUMBER,
  STRIPE_SECRET,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { insertConnection, insertIdentity } from '../sso/rows'

/** A key of Stripe's whose account has the events of all worlds. */
export const WORLDS_KEY = `rk_live_51${'World'.repeat(8)}`

export type World = Awaited<ReturnType<typeof newWorld>>

/** A project with one of each thing that a path can name. */
export async function newWorld() {
  const { project, owner, key, secret } = await freshKey()
  const other = await mint(owner.token, project, { name: 'other', scopes: ORDINARY })
  const connection = await stripeConnection(owner.token, project)
  // The runner does not end while the real Queue has a batch on its way: this one loses the message.
  const event = stripeEvent()
  const receipt = await deliver(connection.id, event, { bindings: { EVENTS: lossyQueue().EVENTS } })
  await changeAccount(WORLDS_KEY, { objects: { [event.id]: event }, writes: true, endpoints_most: 1000 })
  await keptVendorKey(project, connection.id, owner.user)
  const running = await keptImport(project, connection.id)
  const idle = await keptConnection(project, { vendor: 'paddle', name: 'idle' })
  await keptVendorKey(project, idle, owner.user, { state: 'ok' })
  const checked = await keptConnection(project, { vendor: 'stripe', name: 'checked' })
  await keptVendorKey(project, checked, owner.user, { state: 'ok', secret: WORLDS_KEY })
  const signed = await keptConnection(project, { vendor: 'hmac', name: 'HMAC' })
  const testing = await keptConnection(project, {
    vendor: 'stripe',
    name: 'testing',
    livemode: 0,
    secret: STRIPE_SECRET,
  })
  const session = await DIRECTORY.prepare('SELECT id FROM sessions WHERE user_id = ?')
    .bind(owner.user)
    .first<string>('id')
  const replay = newId('rpl', Date.now())
  await STORE.prepare('INSERT INTO replays (project_id, id, actor, queued) VALUES (?, ?, ?, 0)')
    .bind(project, replay, owner.user)
    .run()
  await Promise.all([
    insertObjects(project, 'subscription', ['sub_sample']),
    insertObjects(project, 'invoice', ['in_sample']),
    insertObjects(project, 'payment_method', ['pm_sample']),
    insertObjects(project, 'purchase', ['pi_sample']),
  ])
  const member = await addMember(project, 'developer')
  const invitation = await invited(project)
  const [consumer, survivor] = await Promise.all([
    insertConsumer(project, 'sample'),
    insertConsumer(project, 'survivor'),
  ])
  const erased = await insertErased(project)
  const device = await insertDevice(project, consumer)
  const endpoint = await insertEndpoint(project, owner.user)
  await insertFeatures(project, 'sso', 'seats', 'unused')
  const plan = await insertPlan(project, 'pro')
  const grant = await insertGrants(project, consumer)
  const domain = await insertDomain(project)
  const own = await invited(project, { email: owner.email }) // of a member: accepting it changes nothing
  const passkey = await keptPasskey(owner.user)
  const sso = await insertConnection(project, { tested_revision: 1, audience: 'customers' })
  const identity = await insertIdentity(project, sso.id, consumer)
  const coOwner = await addMember(project, 'owner')
  const told = await STORE.prepare(
    `SELECT seq FROM changes WHERE project_id = ? AND items ->> '$[0].type' = 'consumer.created' AND json_array_length(items) = 1`,
  )
    .bind(project)
    .first<number>('seq')
  return {
    consumer,
    survivor,
    erased,
    device,
    plan,
    grant,
    domain,
    passkey,
    sso,
    identity,
    coOwner,
    endpoint,
    told,
    member,
    invitation,
    own,
    replay,
    running,
    idle,
    checked,
    signed,
    testing,
    project,
    owner,
    key,
    secret,
    other,
    connection,
    event: receipt.body.event_ids[0],
    session: session ?? '',
  }
}

/** The worlds of a file that walks the routes: all that only read share one, and each other gets one of its own. */
export function worldsByRoute() {
  let read: Promise<World> | undefined
  return ({ method }: Pick<RouteEntry, 'method'>): Promise<World> => {
    if (method !== 'GET') return newWorld()
    read ??= newWorld()
    return read
  }
}

/** The key of a connection, written to the database. Nothing opens one without a secret. */
async function keptVendorKey(
  project_id: string,
  connection_id: string,
  user: string,
  { state = 'refused', secret = '' }: { state?: string; secret?: string } = {},
): Promise<void> {
  const { key, box } = await seal(KEY_RING, secret, vendorKeyContext({ project_id, connection_id }))
  await STORE.batch([
    STORE.prepare(
      `INSERT INTO vendor_keys (project_id, connection_id, key, box, hint, livemode, permissions, state, added_by, checked_at, created_at)
       VALUES (?, ?, ?, ?, 'test', 1, '{}', ?, ?, 1, 1)`,
    ).bind(project_id, connection_id, key, box, state, user),
    STORE.prepare('INSERT INTO vendor_endpoints (project_id, connection_id, due_at) VALUES (?, ?, 9000000000000)').bind(
      project_id,
      connection_id,
    ),
  ])
}

/** An import of a connection, written to the database. Nothing reads a page of it. */
export async function keptImport(
  project: string,
  connection: string,
  finished: number | null = null,
  now = Date.now(),
) {
  const id = newId('imp', now)
  await STORE.prepare(
    `INSERT INTO vendor_runs (project_id, id, connection_id, state, kinds, invoice_months, invoices_since, due_at, actor, created_at, updated_at, finished_at)
     VALUES (?1, ?2, ?3, iif(?4 IS NULL, 'running', 'done'), '{}', 3, 1, iif(?4 IS NULL, 9000000000000, NULL), 'usr_1', 1, 1, ?4)`,
  )
    .bind(project, id, connection, finished)
    .run()
  return id
}

/** A connection, written to the database: with a signing secret, or without one. */
async function keptConnection(
  project: string,
  { vendor, name, livemode = 1, secret }: { vendor: string; name: string; livemode?: number; secret?: string },
): Promise<string> {
  const id = newConnectionId(Date.now(), STORE_NUMBER)
  const own = newId('sec', Date.now())
  const sealed = secret && {
    id: own,
    hint: 'only',
    created_at: 1,
    ...(await seal(KEY_RING, secret, sealContext(project, id, own))),
  }
  await STORE.prepare(
    `INSERT INTO connections (id, project_id, vendor, name, livemode, secrets, secrets_used, created_at) VALUES (?, ?, ?, ?, ?, ?, '{}', 1)`,
  )
    .bind(id, project, vendor, name, livemode, JSON.stringify(sealed ? [sealed] : []))
    .run()
  return id
}

/** A passkey of a user, and sessions in which one was used, written to the database. No authenticator has it. */
async function keptPasskey(user: string): Promise<string> {
  const id = newId('psk', Date.now())
  await DIRECTORY.batch([
    DIRECTORY.prepare(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, transports, name, created_at, backed_up)
       VALUES (?1, ?2, ?1, '', 0, '[]', 'sample', 1, 0)`,
    ).bind(id, user),
    DIRECTORY.prepare('UPDATE sessions SET second_factor_at = 1 WHERE user_id = ?').bind(user),
  ])
  return id
}

/** What a parameter of a path names, by what stands before it. The longer name counts first. */
const NAMED: Record<string, (world: World) => string> = {
  'api-keys': (world) => world.other.key.id,
  projects: (world) => world.project,
  p: (world) => world.project,
  members: (world) => world.member.user,
  invitations: (world) => world.invitation.id,
  'auth/invitations': (world) => world.own.id,
  sso: (world) => world.sso.id,
  'sso/connections': (world) => world.sso.id,
  tests: (world) => world.sso.test,
  'sso/identities': (world) => world.sso.identity,
  identities: (world) => world.identity,
  'v1/consumers': () => 'ext:sample',
  consumers: (world) => world.consumer,
  devices: (world) => world.device,
  features: () => 'unused',
  plans: (world) => world.plan,
  grants: (world) => world.grant,
  domains: (world) => world.domain,
  connections: (world) => world.connection.id,
  'webhook-endpoints': (world) => world.endpoint.id,
  deliveries: (world) => String(world.told),
  ingest: (world) => world.connection.id,
  refusals: () => 'signature_mismatch',
  failures: (world) => world.connection.id,
  'failures/:connection_id': () => 'payload_invalid',
  'failures/:connection': () => 'payload_invalid',
  secrets: (world) => world.connection.secrets[0]?.id ?? '',
  webhooks: (world) => world.event,
  replays: (world) => world.replay,
  imports: (world) => world.running,
  subscriptions: () => 'sub_sample',
  invoices: () => 'in_sample',
  'payment-methods': () => 'pm_sample',
  purchases: () => 'pi_sample',
  customers: () => 'stripe',
  'customers/:vendor': () => 'cus_1',
  sessions: (world) => world.session,
  passkeys: (world) => world.passkey,
}

/**
 * The path of a route, its parameters filled in with ids that the world has.
 *
 * @param at what the last parameter names, if not what the world says for this place
 */
export function pathIn(world: World, path: string, at?: (world: World) => string): string {
  const parts = path.split('/')
  const last = parts.findLastIndex((part) => part.startsWith(':'))
  const named = (index: number) => {
    const before = parts.slice(0, index)
    const find = index === last && at ? at : (NAMED[before.slice(-2).join('/')] ?? NAMED[before.at(-1) ?? ''])
    return find?.(world) ?? 'none'
  }
  return parts.map((part, index) => (part.startsWith(':') ? named(index) : part)).join('/')
}
