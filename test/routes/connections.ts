import {
  type AccountSettings,
  call,
  changeAccount,
  deliver,
  fillTable,
  freshConnection,
  lossyQueue,
  newStripeAccount,
  newStripeKey,
  type RequestOptions,
  STORE,
  STRIPE_SECRET,
  stripeConnection,
  stripeEvent,
  tamperedD1,
} from '../harness'
import { asks, may, type Rows, read, times } from './row'
import { keptImport, WORLDS_KEY, type World } from './world'

const CONNECTIONS = '/platform/v1/billing/connections'
const PAGES = '/console/p/:project/platform/billing/connections'
const WRITE = may('admin', 'connections:write')
const onConnection = (what: string) => ({ action: `connection.${what}`, object: (world: World) => world.connection.id })
let lastTime = 0
/** A time (ms) after all that were given before, however little of it has passed. */
const nextTime = () => {
  lastTime = Math.max(lastTime + 1, Date.now())
  return lastTime
}
const SECRET = { signing_secret: 'whsec_9876543210' }

export const CONNECTION_ROWS: Rows = {
  'POST /platform/v1/billing/connections': {
    who: WRITE,
    json: { vendor: 'stripe', name: 'sample', livemode: true, signing_secret: 'whsec_0123456789' },
    status: 201,
    audit: { action: 'connection.created', object: () => /^con_/ },
    faults: {
      connection_limit_reached: async () => {
        const { project, secret } = await freshConnection()
        await fillTable('connections', project, 49)
        await stripeConnection(secret, project) // the fiftieth
        const json = { vendor: 'stripe', name: 'one too many', livemode: true, signing_secret: 'whsec_0123456789' }
        return call(CONNECTIONS, { method: 'POST', project, token: secret, json })
      },
    },
    console: {
      [`GET ${PAGES}/new`]: {},
      [`POST ${PAGES}`]: { fields: { vendor: 'stripe', name: 'By form', livemode: 'true', ...SECRET } },
    },
  },
  'GET /platform/v1/billing/connections': {
    who: read('connections:read'),
    list: { add: (world, n) => times(n, () => stripeConnection(world.owner.token, world.project)) },
    console: { [`GET ${PAGES}`]: {} },
  },
  'GET /platform/v1/billing/connections/:id': {
    who: read('connections:read'),
    console: {
      [`GET ${PAGES}/:id`]: {},
      [`GET ${PAGES}/:id/first`]: {},
      [`GET ${PAGES}/:id/api-key`]: { policy: 'user' },
      [`GET ${PAGES}/:id/endpoint`]: { policy: 'user' },
      [`GET ${PAGES}/:id/endpoint/check`]: { policy: 'user' },
      [`GET ${PAGES}/:id/secrets`]: { policy: 'user' },
      [`GET ${PAGES}/:id/secrets/:secret`]: { policy: 'user' },
    },
  },
  'PATCH /platform/v1/billing/connections/:id': {
    who: WRITE,
    json: { name: 'sample', status: 'active' },
    audit: onConnection('updated'),
    console: {
      [`POST ${PAGES}/:id`]: { fields: { name: 'By form' } },
      [`GET ${PAGES}/:id/disable`]: {},
      [`GET ${PAGES}/:id/pause`]: {},
      [`POST ${PAGES}/:id/test-events`]: {
        at: (world) => world.testing,
        fields: { sample: 'invoice_paid' },
        action: 'connection.test_event_sent',
        object: (world) => world.testing,
      },
    },
  },
  'DELETE /platform/v1/billing/connections/:id': {
    who: WRITE,
    audit: onConnection('deleted'),
    console: asks(`${PAGES}/:id/delete`),
  },
  'POST /platform/v1/billing/connections/:id/secrets': {
    who: WRITE,
    json: SECRET,
    status: 201,
    audit: onConnection('secret_added'),
    faults: {
      secret_limit_reached: async () => {
        const world = await freshConnection()
        for (const n of [2, 3, 4, 5]) {
          const { status } = await addSecret(world, `whsec_number_${n}`)
          if (status !== 201) throw new Error(`secret ${n} was answered ${status}`)
        }
        return addSecret(world, 'whsec_number_6')
      },
      secret_exists: async () => addSecret(await freshConnection(), STRIPE_SECRET),
    },
    console: { [`POST ${PAGES}/:id/secrets`]: { fields: SECRET } },
  },
  'DELETE /platform/v1/billing/connections/:id/secrets/:secret_id': {
    who: WRITE,
    audit: onConnection('secret_removed'),
    console: asks(`${PAGES}/:id/secrets/:secret/remove`),
  },
  'GET /platform/v1/billing/connections/:id/diagnoses': {
    who: read('connections:read'),
    list: {
      id: ({ at }) => at,
      add: (world, n) =>
        times(n, () =>
          STORE.prepare(
            "INSERT INTO diagnoses (project_id, connection_id, at, cause, verdict, tried, size, headers) VALUES (?, ?, ?, 'signature_missing', 'unknown', 0, 2, '[]')",
          )
            .bind(world.project, world.connection.id, nextTime())
            .run(),
        ),
    },
  },
  'GET /platform/v1/billing/connections/:id/refusals': {
    who: read('connections:read'),
    console: {
      [`GET ${PAGES}/:id/refusals`]: { policy: 'user' },
      [`GET ${PAGES}/:id/refusals/:code`]: { policy: 'user' },
    },
  },
  'PUT /platform/v1/billing/connections/:id/refusals/:code/mute': {
    who: WRITE,
    json: { until: null },
    audit: onConnection('refusals_muted'),
    console: asks(`${PAGES}/:id/refusals/:code/mute`, { fields: { for: 'open' } }),
  },
  'DELETE /platform/v1/billing/connections/:id/refusals/:code/mute': {
    who: WRITE,
    status: 204,
    audit: {
      ...onConnection('refusals_unmuted'),
      first: ({ connection, project, secret }) =>
        call(`/platform/v1/billing/connections/${connection.id}/refusals/signature_mismatch/mute`, {
          ...{ method: 'PUT', project, token: secret, json: { until: null } },
        }),
    },
    console: { [`POST ${PAGES}/:id/refusals/:code/unmute`]: {} },
  },
  'GET /platform/v1/billing/connections/:id/formats': { who: read('connections:read') },
  'PUT /platform/v1/billing/connections/:id/verification': {
    who: WRITE,
    at: (world) => world.signed,
    json: { preset: 'github' },
    audit: { action: 'connection.verification_set', object: (world) => world.signed },
    faults: {
      verification_unsupported: async () => {
        const { project, secret, connection } = await freshConnection()
        const path = `${CONNECTIONS}/${connection.id}/verification`
        return call(path, { method: 'PUT', project, token: secret, json: { preset: 'github' } })
      },
    },
    console: {
      [`GET ${PAGES}/:id/verification`]: { at: (world) => world.signed },
      [`POST ${PAGES}/:id/verification`]: {
        at: (world) => world.signed,
        fields: { preset: 'github', algorithm: 'sha256', header: 'x-mac', encoding: 'hex', signed: '{body}' },
      },
    },
  },
  'POST /platform/v1/billing/connections/:id/verification/try': {
    who: WRITE,
    at: (world) => world.signed,
    json: { body: '{}', headers: {} },
    audit: null,
    console: {
      [`GET ${PAGES}/:id/verification/try`]: { policy: 'user' },
      [`POST ${PAGES}/:id/verification/try`]: {
        at: (world) => world.signed,
        fields: { body: '{}', headers: '' },
        status: 200,
      },
    },
  },
  'PUT /platform/v1/billing/connections/:id/api-key': {
    who: WRITE,
    json: { api_key: WORLDS_KEY },
    audit: onConnection('api_key_set'),
    faults: {
      api_key_unsupported: async () => {
        const { project, secret } = await freshConnection()
        const json = { vendor: 'standard', name: 'Standard', livemode: true }
        const { body } = await call(CONNECTIONS, { method: 'POST', project, token: secret, json })
        return setKey({ project, secret, connection: body }, newStripeKey())
      },
      api_key_invalid: async () => setKey(await freshConnection(), newStripeKey()),
      api_key_too_powerful: async () => setKey(await freshConnection(), 'sk_live_51abcdefghijkl'),
      api_key_other_mode: async () => setKey(await freshConnection(), newStripeKey('test')),
      api_key_other_account: async () => {
        const world = await freshConnection()
        await deliver(world.connection.id, stripeEvent(), { bindings: { EVENTS: lossyQueue().EVENTS } })
        return setKey(world, await newStripeAccount())
      },
      vendor_failed: async () => setKey(await freshConnection(), await newStripeAccount({ fail: { status: 500 } })),
    },
    console: { [`POST ${PAGES}/:id/api-key`]: { fields: { api_key: WORLDS_KEY } } },
  },
  'GET /platform/v1/billing/connections/:id/api-key': { who: read('connections:read') },
  'DELETE /platform/v1/billing/connections/:id/api-key': {
    who: WRITE,
    audit: onConnection('api_key_removed'),
    console: asks(`${PAGES}/:id/api-key/remove`),
  },
  'POST /platform/v1/billing/connections/:id/endpoint': {
    who: WRITE,
    json: { api_key: WORLDS_KEY },
    audit: onConnection('endpoint_set'),
    faults: {
      vendor_endpoint_unsupported: async () => {
        const { project, secret } = await freshConnection()
        const json = { vendor: 'adyen', name: 'Adyen', livemode: true }
        const { body } = await call(CONNECTIONS, { method: 'POST', project, token: secret, json })
        return setUp({ project, secret, connection: body }, newStripeKey())
      },
      vendor_endpoint_limit: async () =>
        setUp(
          await freshConnection(),
          await newStripeAccount({ writes: true, endpoints_most: 0, objects: manyEndpoints() }),
        ),
      secret_limit_reached: async () => {
        const world = await freshConnection()
        for (const n of [2, 3, 4, 5]) await addSecret(world, `whsec_number_${n}`)
        return setUp(world, await newStripeAccount({ writes: true }))
      },
      connection_changed: async () => {
        const world = await freshConnection()
        const DB = tamperedD1(async ({ sql, run }) => {
          // Another call is always first.
          if (/^update "connections" set "version" = .*"secrets" = /.test(sql))
            await STORE.prepare('UPDATE connections SET version = version + 1 WHERE id = ?')
              .bind(world.connection.id)
              .run()
          return run()
        })
        return setUp(world, await newStripeAccount({ writes: true }), { bindings: { DB } })
      },
      api_key_invalid: async () => setUp(await freshConnection(), newStripeKey()),
      api_key_too_powerful: async () => setUp(await freshConnection(), 'sk_live_51abcdefghijkl'),
      api_key_other_mode: async () => setUp(await freshConnection(), newStripeKey('test')),
      api_key_lacks_permission: async () => setUp(await freshConnection(), await newStripeAccount()),
      ingest_url_not_public: async () =>
        setUp(await freshConnection(), newStripeKey(), { bindings: { PUBLIC_ORIGIN: '' } }),
      vendor_failed: async () => setUp(await freshConnection(), await newStripeAccount({ fail: { status: 500 } })),
    },
    console: { [`POST ${PAGES}/:id/endpoint`]: { fields: { write_key: WORLDS_KEY } } },
  },
  'GET /platform/v1/billing/connections/:id/endpoint': {
    who: read('connections:read'),
    at: (world) => world.checked,
    audit: null,
    faults: {
      vendor_endpoint_unsupported: async () => {
        const { project, secret } = await freshConnection()
        const json = { vendor: 'adyen', name: 'Adyen', livemode: true }
        const { body } = await call(CONNECTIONS, { method: 'POST', project, token: secret, json })
        return checkEndpoint({ project, secret, connection: body })
      },
      api_key_missing: async () => checkEndpoint(await freshConnection()),
      api_key_lacks_permission: async () => checkEndpoint(await keyed({ refused: ['webhook_endpoints'] })),
      ingest_url_not_public: async () => checkEndpoint(await keyed(), { bindings: { PUBLIC_ORIGIN: '' } }),
      vendor_failed: async () => {
        const world = await keyed()
        await changeAccount(world.apiKey, { fail: { status: 500 } })
        return checkEndpoint(world)
      },
    },
    console: { [`POST ${PAGES}/:id/endpoint/check`]: { at: (world) => world.checked, fields: { check: 'now' } } },
  },
  'POST /platform/v1/billing/connections/:id/imports': {
    who: WRITE,
    at: (world) => world.idle,
    json: { kinds: ['customers'] },
    status: 202,
    audit: { action: 'import.started', object: () => /^imp_/ },
    console: {
      [`POST ${PAGES}/:id/imports`]: {
        at: (world) => world.idle,
        fields: { kinds: 'customers', invoice_months: '3' },
      },
    },
    faults: {
      api_key_missing: async () => startImport(await freshConnection()),
      connection_paused: async () => {
        const { connection, ...world } = await freshConnection()
        await call(`${CONNECTIONS}/${connection.id}`, {
          method: 'PATCH',
          project: world.project,
          token: world.secret,
          json: { status: 'paused' },
        })
        return startImport({ connection, ...world })
      },
      import_running: async () => {
        const world = await freshConnection()
        await setKey(world, await newStripeAccount())
        await keptImport(world.project, world.connection.id)
        return startImport(world)
      },
    },
  },
  'GET /platform/v1/billing/connections/:id/imports': {
    who: read('connections:read'),
    list: {
      add: (world, n) =>
        times(n, (i) => keptImport(world.project, world.connection.id, 1, Date.now() + i).then(() => {})),
    },
  },
  'GET /platform/v1/billing/connections/:id/imports/:import_id': { who: read('connections:read') },
  'POST /platform/v1/billing/connections/:id/imports/:import_id/cancel': {
    who: WRITE,
    audit: { action: 'import.canceled', object: (world) => world.running },
    console: { [`POST ${PAGES}/:id/imports/:import/cancel`]: {} },
  },
}

type Connected = { project: string; secret: string; connection: { id: string } }

function setKey({ project, secret, connection }: Connected, api_key: string) {
  return call(`${CONNECTIONS}/${connection.id}/api-key`, { method: 'PUT', project, token: secret, json: { api_key } })
}

function setUp({ project, secret, connection }: Connected, api_key: string, options: RequestOptions = {}) {
  const path = `${CONNECTIONS}/${connection.id}/endpoint`
  return call(path, { method: 'POST', project, token: secret, json: { api_key }, ...options })
}

function checkEndpoint({ project, secret, connection }: Connected, options: RequestOptions = {}) {
  return call(`${CONNECTIONS}/${connection.id}/endpoint`, { project, token: secret, ...options })
}

async function keyed(settings: AccountSettings = {}) {
  const world = await freshConnection()
  const apiKey = await newStripeAccount(settings)
  await setKey(world, apiKey)
  return { ...world, apiKey }
}

function manyEndpoints() {
  const one = (n: number) => ({
    id: `we_${n}`,
    object: 'webhook_endpoint',
    url: `https://x.example.com/${n}`,
    created: n,
  })
  return Array.from({ length: 16 }, (_, n) => one(n))
}

function startImport({ project, secret, connection }: Connected) {
  return call(`${CONNECTIONS}/${connection.id}/imports`, { method: 'POST', project, token: secret, json: {} })
}

function addSecret({ project, secret, connection }: Awaited<ReturnType<typeof freshConnection>>, added: string) {
  const json = { signing_secret: added }
  return call(`${CONNECTIONS}/${connection.id}/secrets`, { method: 'POST', project, token: secret, json })
}
