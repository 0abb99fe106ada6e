import { newId } from '../../src/lib/ids'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import { insertObjects, insertTimeline } from '../billing/rows'
import { insertFeatures, insertPlan } from '../catalog/rows'
import { insertConsumer, insertLink } from '../consumers/rows'
import { insertDevice } from '../devices/rows'
import { insertDomain } from '../domains/rows'
import { insertGrants } from '../entitlements/rows'
import {
  addMember,
  call,
  DIRECTORY,
  deliver,
  freshProject,
  invited,
  type Json,
  lossyQueue,
  mint,
  STORE,
  stripeConnection,
  stripeEvent,
} from '../harness'
import type { World } from '../routes'
import { insertConnection } from '../sso/rows'

/** What a test needs to know of a list. */
export type List = {
  /** Adds rows, one after the other. */
  add: (world: World, n: number) => Promise<void>
  /** What identifies a row; the list is sorted by it. */
  id: (row: Json['data'][0]) => string | number
  /** Oldest first: rows that are added while a reader walks the list come at its end. */
  ascending?: true
  /** Queries that filter it: a cursor of the first is refused under every other. */
  filters?: [string, ...string[]]
}

const EVENTS = () => ({ bindings: { EVENTS: lossyQueue().EVENTS } })
const byId: List['id'] = (row) => row.id

async function times(n: number, work: (i: number) => Promise<unknown>) {
  for (let i = 0; i < n; i++) await work(i)
}

const addEvents = (world: World, n: number) =>
  times(n, () => deliver(world.connection.id, stripeEvent('invoice.paid'), EVENTS()))

async function addAttempts(world: World, n: number) {
  const last = await STORE.prepare('SELECT coalesce(max(number), 0) AS n FROM attempts WHERE event_id = ?')
    .bind(world.event)
    .first<{ n: number }>()
  const insert = STORE.prepare(
    `INSERT INTO attempts (event_id, number, trigger, started_at, finished_at, outcome) VALUES (?, ?, 'retry', 1, 2, 'retrying')`,
  )
  await STORE.batch(Array.from({ length: n }, (_, i) => insert.bind(world.event, (last?.n ?? 0) + 1 + i)))
}

async function addSessions(world: World, n: number) {
  await times(n, async () => {
    const now = Date.now()
    await DIRECTORY.prepare(
      'INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?)',
    )
      .bind(newId('ses', now), world.owner.user, newSessionToken(), now, now + HOUR, now)
      .run()
  })
}

const addAccountEvents = ({ owner }: World, n: number) =>
  times(n, () =>
    DIRECTORY.prepare("INSERT INTO account_events (user_id, id, type, at) VALUES (?, ?, 'sign_in', ?)")
      .bind(owner.user, newId('aev', Date.now()), Date.now())
      .run(),
  )

const addReplays = (world: World, n: number) =>
  times(n, () =>
    STORE.prepare('INSERT INTO replays (project_id, id, actor, event_id, queued) VALUES (?, ?, ?, ?, 1)')
      .bind(world.project, newId('rpl', Date.now()), world.owner.user, world.event)
      .run(),
  )

/** Every list of the API. */
export const LISTS: Record<string, List> = {
  'GET /platform/v1/api-keys': {
    id: byId,
    add: (world, n) => times(n, () => mint(world.owner.token, world.project)),
  },
  'GET /platform/v1/projects': {
    id: byId,
    add: (world, n) =>
      times(n, () =>
        call('/platform/v1/projects', { method: 'POST', token: world.owner.token, json: { name: 'another' } }),
      ),
  },
  'GET /platform/v1/audit-log': {
    id: byId,
    add: (world, n) => times(n, () => mint(world.owner.token, world.project)),
    filters: [
      'action=api_key.*',
      'action=api_key.minted',
      'object_type=api_key',
      'created_after=2020-01-01T00:00:00Z',
      '',
    ],
  },
  'GET /platform/v1/consumers': {
    id: byId,
    add: ({ project }, n) => times(n, () => insertConsumer(project, null)),
    filters: ['state=active', 'state=blocked', 'email=sample@example.com', ''],
  },
  'GET /platform/v1/consumers/:consumer/devices': {
    id: byId,
    add: ({ project, consumer }, n) => times(n, () => insertDevice(project, consumer)),
    filters: ['state=active', 'state=revoked', ''],
  },
  'GET /platform/v1/billing/features': {
    id: (row) => row.key,
    add: ({ project }, n) => times(n, () => insertFeatures(project, `z_${newId('evt', Date.now())}`)),
    ascending: true,
  },
  'GET /platform/v1/billing/plans': {
    id: byId,
    add: ({ project }, n) => times(n, () => insertPlan(project, newId('evt', Date.now()))),
  },
  'GET /platform/v1/billing/grants': {
    id: byId,
    add: ({ project, consumer }, n) => times(n, () => insertGrants(project, consumer)),
    filters: ['consumer=ext:sample', 'consumer=ext:survivor', ''],
  },
  'GET /platform/v1/billing/connections': {
    id: byId,
    add: (world, n) => times(n, () => stripeConnection(world.owner.token, world.project)),
  },
  'GET /platform/v1/billing/webhooks': {
    id: byId,
    add: addEvents,
  },
  'GET /platform/v1/billing/webhooks/replays': {
    id: byId,
    add: addReplays,
  },
  'GET /platform/v1/billing/webhooks/search': {
    id: byId,
    add: addEvents,
    filters: [
      'event_type=invoice.*',
      'event_type=invoice.paid',
      'event_type=invoice.*&event_type=charge.*',
      'event_type=invoice.*&status=received',
      'event_type=invoice.*&order=asc',
      'event_type=invoice.*&livemode=true',
      'status=received',
      '',
    ],
  },
  'GET /platform/v1/billing/webhooks/:event_id/attempts': {
    id: (row) => row.number,
    add: addAttempts,
    ascending: true,
  },
  'GET /platform/v1/billing/customers': {
    // Sorted by the vendors' ids, which rise here.
    id: byId,
    add: ({ project }, n) => times(n, () => insertLink(project, `cus_${newId('evt', Date.now())}`)),
    filters: ['linked=false', 'vendor=stripe', 'linked=true', ''],
    ascending: true,
  },
  'GET /platform/v1/billing/subscriptions': objectList('subscription', [
    'status=active',
    'customer=cus_1',
    'vendor=stripe',
    '',
  ]),
  'GET /platform/v1/billing/invoices': objectList('invoice', [
    'status=open',
    'customer=cus_1',
    'subscription=sub_1',
    '',
  ]),
  'GET /platform/v1/billing/payment-methods': objectList('payment_method', ['status=attached', 'customer=cus_1', '']),
  'GET /platform/v1/billing/subscriptions/:id/timeline': timelineOf('subscription', 'sub_sample'),
  'GET /platform/v1/billing/invoices/:id/timeline': timelineOf('invoice', 'in_sample'),
  'GET /platform/v1/billing/payment-methods/:id/timeline': timelineOf('payment_method', 'pm_sample'),
  'GET /platform/v1/members': {
    id: (row) => `${row.created_at}${row.user_id}`,
    add: ({ project }, n) => times(n, () => addMember(project, 'viewer')),
    filters: ['role=viewer', 'role=owner', ''],
  },
  'GET /platform/v1/domains': {
    id: byId,
    add: ({ project }, n) => times(n, () => insertDomain(project)),
    filters: ['purpose=surface', 'purpose=sso', 'state=pending', ''],
  },
  'GET /platform/v1/sso/connections': {
    id: byId,
    add: ({ project }, n) => times(n, () => insertConnection(project)),
  },
  'GET /platform/v1/sso/identities': {
    id: byId,
    add: ({ project }, n) => times(n, () => insertConnection(project)),
    filters: ['user_id=usr_sample', 'consumer=csm_other', ''],
  },
  'GET /platform/v1/invitations': {
    id: byId,
    add: ({ project }, n) => times(n, () => invited(project)),
    filters: ['state=pending', 'state=expired', ''],
  },
  'GET /auth/invitations': {
    id: byId,
    add: ({ owner: { email } }, n) =>
      times(n, async () => {
        const { project } = await freshProject()
        await invited(project, { email })
      }),
  },
  'GET /auth/events': { id: byId, add: addAccountEvents },
  'GET /auth/sessions': { id: byId, add: addSessions },
}

/** A list of billing objects. Vendors' ids have no order; these rise, so that new rows sort before the first page. */
function objectList(kind: 'subscription' | 'invoice' | 'payment_method', filters: [string, ...string[]]): List {
  const add = (world: World, n: number) =>
    insertObjects(
      world.project,
      kind,
      Array.from({ length: n }, () => `zz_${newId('evt', Date.now())}`),
    )
  return { id: byId, add, filters }
}

function timelineOf(kind: 'subscription' | 'invoice' | 'payment_method', object: string): List {
  const add = ({ project, connection }: World, n: number) =>
    insertTimeline(
      project,
      connection.id,
      kind,
      object,
      Array.from({ length: n }, () => newId('evt', Date.now())),
    )
  return { id: (row) => row.event_id, add }
}
