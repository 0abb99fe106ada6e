import { type Db, openDb } from '../../src/db/client'
import { PACKED_PERIOD_MS } from '../../src/inbox/archive/limits'
import { archiveEvents } from '../../src/inbox/archive/store'
import { newId } from '../../src/lib/ids'
import { DAY } from '../../src/lib/time'
import { call, deliver, freshConnection, freshKey, lossyQueue, STORE, STORE_NUMBER, stripeEvent } from '../harness'
import { gocardlessConnection, newWorld, sendGocardless } from '../inbox/pipeline'
import { insertEvents, seedEvent } from '../inbox/seeding'
import { addressOf, paypalHeaders, sharedSigner } from '../vendors/paypal-signed'
import { asks, type List, may, type Rows, read, times } from './row'
import type { World } from './world'

const PAGES = '/console/p/:project/platform/billing/webhooks'
const WRITE = may('developer', 'billing:write')
const newConnection = async () => (await freshConnection()).connection.id
const deliverEvents: List['add'] = ({ connection }, n) =>
  times(n, () => deliver(connection.id, stripeEvent('invoice.paid'), { bindings: { EVENTS: lossyQueue().EVENTS } }))

export const INBOX: Rows = {
  'POST /ingest/:connection_id': {
    who: 'public',
    status: 401, // its sample has no signature
    faults: {
      unknown_connection: () => deliver(newId('con', Date.now()), stripeEvent()),
      connection_disabled: async () => {
        const { connection, project, secret } = await freshConnection()
        const path = `/platform/v1/billing/connections/${connection.id}`
        await call(path, { method: 'PATCH', project, token: secret, json: { status: 'disabled' } })
        return deliver(connection.id, stripeEvent())
      },
      signature_missing: async () => call(`/ingest/${await newConnection()}`, { method: 'POST', body: '{}' }),
      signature_malformed: async () =>
        deliver(await newConnection(), stripeEvent(), { headers: { 'Stripe-Signature': 'nonsense' } }),
      signature_mismatch: async () =>
        deliver(await newConnection(), stripeEvent(), { secret: 'whsec_of_somebody_else' }),
      signature_timestamp: async () =>
        deliver(await newConnection(), stripeEvent(), { at: Math.floor(Date.now() / 1000) - 600 }),
      too_many_events: async () => {
        const world = await newWorld()
        const ids = Array.from({ length: 1001 }, (_, n) => `EV${n}`)
        return sendGocardless(world, await gocardlessConnection(world), ids)
      },
      unsupported_encoding: async () =>
        deliver(await newConnection(), stripeEvent(), { headers: { 'Content-Encoding': 'gzip' } }),
      vendor_key_unavailable: async () => {
        const world = await newWorld()
        const webhook = '9XL90610J3647323C'
        const json = { vendor: 'paypal', name: 'PayPal', livemode: false, signing_secret: webhook }
        const { id } = (await world.api('/connections', { method: 'POST', json })).body
        const signed = { body: '{}', webhook, signer: await sharedSigner(), address: addressOf('CERT-never-published') }
        return call(`/ingest/${id}`, { method: 'POST', body: '{}', headers: await paypalHeaders(signed) })
      },
      encryption_key_unavailable: async () =>
        deliver(await newConnection(), stripeEvent(), { bindings: { ENCRYPTION_KEY_1: btoa('x'.repeat(32)) } }),
    },
  },
  'GET /platform/v1/billing/webhooks': { who: read('billing:read'), list: { add: deliverEvents } },
  'GET /platform/v1/billing/webhooks/search': {
    who: read('billing:read'),
    list: {
      add: deliverEvents,
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
    console: { [`GET ${PAGES}`]: {}, [`GET ${PAGES}/csv`]: {}, [`GET ${PAGES}/live`]: {} },
  },
  'GET /platform/v1/billing/webhooks/health': {
    who: read('billing:read'),
    console: { [`GET ${PAGES}/health`]: {}, 'GET /console/p/:project/status': {} },
  },
  'GET /platform/v1/billing/webhooks/failures': {
    who: read('billing:read'),
    console: {
      [`GET ${PAGES}/failures`]: {},
      [`GET ${PAGES}/failures/:connection`]: { policy: 'user' },
      [`GET ${PAGES}/failures/:connection/:code`]: { policy: 'user' },
    },
  },
  'PUT /platform/v1/billing/webhooks/failures/:connection_id/:error_code/mute': {
    who: WRITE,
    json: { until: null },
    audit: { action: 'connection.failures_muted', object: ({ connection }) => connection.id },
    faults: {
      mute_limit_reached: async () => {
        const { connection, project, secret } = await freshConnection()
        const insert = STORE.prepare(
          "INSERT INTO cause_mutes (project_id, connection_id, kind, code, muted_at, muted_by) VALUES (?, ?, 'failed', ?, 1, 'usr_1')",
        )
        await STORE.batch(Array.from({ length: 100 }, (_, i) => insert.bind(project, connection.id, `code_${i}`)))
        const path = `/platform/v1/billing/webhooks/failures/${connection.id}/none/mute`
        return call(path, { method: 'PUT', project, token: secret, json: { until: null } })
      },
    },
    console: asks(`${PAGES}/failures/:connection/:code/mute`, { fields: { for: 'open' } }),
  },
  'DELETE /platform/v1/billing/webhooks/failures/:connection_id/:error_code/mute': {
    who: WRITE,
    status: 204,
    audit: {
      action: 'connection.failures_unmuted',
      object: ({ connection }) => connection.id,
      first: ({ connection, project, secret }) =>
        call(`/platform/v1/billing/webhooks/failures/${connection.id}/payload_invalid/mute`, {
          ...{ method: 'PUT', project, token: secret, json: { until: null } },
        }),
    },
    console: { [`POST ${PAGES}/failures/:connection/:code/unmute`]: {} },
  },
  'GET /platform/v1/billing/webhooks/lag-timeseries': { who: read('billing:read') },
  'POST /platform/v1/billing/webhooks/replay': {
    who: WRITE,
    json: { filter: {}, limit: 10, dry_run: true },
    faults: {
      replay_running: async () => {
        const { project, secret } = await freshKey()
        await STORE.prepare(
          'INSERT INTO replays (project_id, id, actor, queued, processed, ignored, failed) VALUES (?, ?, ?, 1, 0, 0, 0)',
        )
          .bind(project, newId('rpl', Date.now()), 'usr_1')
          .run()
        return call('/platform/v1/billing/webhooks/replay', {
          method: 'POST',
          project,
          token: secret,
          json: { filter: {} },
        })
      },
    },
    audit: { action: 'events.replayed', object: () => /^rpl_/ },
    console: asks(`${PAGES}/replay`, { fields: { search: '' } }),
  },
  'GET /platform/v1/billing/webhooks/replays': {
    who: read('billing:read'),
    list: {
      add: ({ project, owner, event }, n) =>
        times(n, () =>
          STORE.prepare('INSERT INTO replays (project_id, id, actor, event_id, queued) VALUES (?, ?, ?, ?, 1)')
            .bind(project, newId('rpl', Date.now()), owner.user, event)
            .run(),
        ),
    },
    console: { [`GET ${PAGES}/replays`]: {} },
  },
  'GET /platform/v1/billing/webhooks/replays/:replay_id': {
    who: read('billing:read'),
    console: { [`GET ${PAGES}/replays/:replay`]: {} },
  },
  'GET /platform/v1/billing/webhooks/:event_id': {
    who: read('billing:read'),
    console: { [`GET ${PAGES}/:event`]: {}, [`GET ${PAGES}/:event/payload`]: {} },
  },
  'GET /platform/v1/billing/webhooks/:event_id/attempts': {
    who: read('billing:read'),
    list: { id: (row) => row.number, add: addAttempts, ascending: true },
  },
  'POST /platform/v1/billing/webhooks/:event_id/replay': {
    who: WRITE,
    audit: { action: 'event.replayed', object: ({ event }) => event },
    faults: {
      payload_gone: async () => {
        const { project, secret, connection } = await freshConnection()
        const receipt = await deliver(connection.id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
        const id = receipt.body.event_ids[0]
        await STORE.prepare("UPDATE events SET status = 'processed', due_at = NULL WHERE id = ?").bind(id).run()
        await STORE.prepare('DELETE FROM packed_bodies WHERE project_id = ?').bind(project).run()
        return call(`/platform/v1/billing/webhooks/${id}/replay`, { method: 'POST', project, token: secret })
      },
      delivered_again: async () => {
        const { project, secret, connection } = await freshConnection()
        const event = (received_at: number) =>
          seedEvent({ connection: connection.id, received_at, vendor_event_id: 'evt_delivered_twice' })
        const archived = event(DAY)
        await insertEvents(project, [archived])
        await STORE.batch([
          STORE.prepare("INSERT INTO packed_bodies (key, project_id, bytes, body) VALUES (1, ?, 2, '{}')").bind(
            project,
          ),
          STORE.prepare("UPDATE events SET payload_id = '1' WHERE id = ?").bind(archived.id),
        ])
        await archiveEvents(openDb<Db>(STORE), { store: STORE_NUMBER, after: '' }, PACKED_PERIOD_MS, 'delivery')
        await insertEvents(project, [event(Date.now())])
        return call(`/platform/v1/billing/webhooks/${archived.id}/replay`, { method: 'POST', project, token: secret })
      },
    },
    console: asks(`${PAGES}/:event/replay`),
  },
}

async function addAttempts({ event }: World, n: number) {
  const last = await STORE.prepare('SELECT coalesce(max(number), 0) AS n FROM attempts WHERE event_id = ?')
    .bind(event)
    .first<{ n: number }>()
  const insert = STORE.prepare(
    `INSERT INTO attempts (event_id, number, trigger, started_at, finished_at, outcome) VALUES (?, ?, 'retry', 1, 2, 'retrying')`,
  )
  await STORE.batch(Array.from({ length: n }, (_, i) => insert.bind(event, (last?.n ?? 0) + 1 + i)))
}
