import { newId } from '../../src/lib/ids'
import { insertEndpoint } from '../endpoints/rows'
import { STORE } from '../harness'
import { asks, byKey, may, type Rows, read, times } from './row'
import type { World } from './world'

const ENDPOINTS = '/platform/v1/webhook-endpoints'
const PAGES = '/console/p/:project/platform/webhook-endpoints'
const WRITE = may('admin', 'webhooks:write')
const onEndpoint = (what: string) => ({
  action: `webhook_endpoint.${what}`,
  object: (world: World) => world.endpoint.id,
})
// Whoever may change endpoints may read these types.
const FIELDS = { url: 'https://sample.plain.dev/hook', types: ['webhook_endpoint.*'] }

/** A project with an endpoint that has two secrets. */
async function withEndpoint() {
  const world = await byKey()
  return { ...world, endpoint: await insertEndpoint(world.project, world.owner.user) }
}

async function disabled({ endpoint }: World) {
  await STORE.prepare("UPDATE webhook_endpoints SET state = 'disabled', disabled_reason = 'requested' WHERE id = ?")
    .bind(endpoint.id)
    .run()
}

/** A call to an endpoint that has as many open resends as it may have. */
async function beyondResends(path: string, json?: unknown) {
  const { project, endpoint, send } = await withEndpoint()
  await STORE.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
     INSERT INTO resends (project_id, endpoint_id, id, after, until, position, created_at, created_by)
     SELECT ?1, ?2, printf('rsd_%026d', i), 0, 1, 0, 1, 'usr_1' FROM n`,
  )
    .bind(project, endpoint.id)
    .run()
  const { body } = await send('POST', '/platform/v1/consumers', {})
  const { body: changes } = await send('GET', '/platform/v1/changes?types=consumer.created')
  if (!body.id) throw new Error('no consumer')
  return send('POST', `${ENDPOINTS}/${endpoint.id}/${path.replace('NUMBER', String(changes.data[0]?.number))}`, json)
}

export const ENDPOINT_ROWS: Rows = {
  [`POST ${ENDPOINTS}`]: {
    who: WRITE,
    json: FIELDS,
    status: 201,
    audit: { action: 'webhook_endpoint.created', object: () => /^whe_/ },
    faults: {
      endpoint_limit_reached: async () => {
        const { project, owner, send } = await byKey()
        await times(10, () => insertEndpoint(project, owner.user))
        return send('POST', ENDPOINTS, FIELDS)
      },
    },
    console: {
      [`GET ${PAGES}/new`]: {},
      [`POST ${PAGES}`]: { fields: { url: FIELDS.url, types: 'webhook_endpoint.*' }, status: 201 },
    },
  },
  [`GET ${ENDPOINTS}`]: {
    who: read('webhooks:read'),
    list: {
      add: (world, n) =>
        times(n, async (i) => void (await insertEndpoint(world.project, world.owner.user, Date.now() + i))),
    },
    console: { [`GET ${PAGES}`]: {} },
  },
  [`GET ${ENDPOINTS}/:id`]: { who: read('webhooks:read'), console: { [`GET ${PAGES}/:id`]: {} } },
  [`PATCH ${ENDPOINTS}/:id`]: {
    who: WRITE,
    json: { state: 'disabled' },
    audit: onEndpoint('updated'),
    console: {
      ...asks(`${PAGES}/:id/edit`, { fields: { types: 'webhook_endpoint.updated' } }),
      ...asks(`${PAGES}/:id/disable`),
      [`POST ${PAGES}/:id/enable`]: { first: disabled },
    },
  },
  [`DELETE ${ENDPOINTS}/:id`]: { who: WRITE, audit: onEndpoint('deleted'), console: asks(`${PAGES}/:id/delete`) },
  [`POST ${ENDPOINTS}/:id/secrets`]: {
    who: WRITE,
    status: 201,
    audit: onEndpoint('secret_added'),
    faults: {
      secret_limit_reached: async () => {
        const { send, endpoint } = await withEndpoint()
        await send('POST', `${ENDPOINTS}/${endpoint.id}/secrets`)
        return send('POST', `${ENDPOINTS}/${endpoint.id}/secrets`)
      },
    },
    console: { [`GET ${PAGES}/:id/secrets`]: { policy: 'user' }, [`POST ${PAGES}/:id/secrets`]: { status: 201 } },
  },
  [`DELETE ${ENDPOINTS}/:id/secrets/:secret_id`]: {
    who: WRITE,
    at: (world) => world.endpoint.secrets[0]?.id ?? '',
    audit: onEndpoint('secret_removed'),
    faults: {
      last_secret: async () => {
        const { send, endpoint } = await withEndpoint()
        const [one, two] = endpoint.secrets
        await send('DELETE', `${ENDPOINTS}/${endpoint.id}/secrets/${one?.id}`)
        return send('DELETE', `${ENDPOINTS}/${endpoint.id}/secrets/${two?.id}`)
      },
    },
    console: {
      [`GET ${PAGES}/:id/secrets/:secret`]: { policy: 'user' },
      ...asks(`${PAGES}/:id/secrets/:secret/remove`, { at: (world) => world.endpoint.secrets[0]?.id ?? '' }),
    },
  },
  [`POST ${ENDPOINTS}/:id/test`]: { who: WRITE, audit: null, console: { [`POST ${PAGES}/:id/test`]: {} } },
  [`GET ${ENDPOINTS}/:id/attempts`]: {
    who: read('webhooks:read'),
    list: {
      add: (world, n) =>
        times(n, async (i) => {
          await STORE.prepare("INSERT INTO delivery_runs (project_id, endpoint_id, id, log) VALUES (?, ?, ?, '[]')")
            .bind(world.project, world.endpoint.id, newId('whr', Date.now() + i))
            .run()
        }),
    },
  },
  [`GET ${ENDPOINTS}/:id/deliveries`]: {
    who: read('webhooks:read'),
    list: {
      id: ({ number }) => Number(number),
      add: (world, n) =>
        times(n, async () => {
          await STORE.prepare(
            `INSERT INTO deliveries (project_id, endpoint_id, seq, type, state, tries, due_at)
             SELECT ?1, ?2, coalesce(max(seq), 0) + 1, 'consumer.created', 'failed', 10, NULL FROM deliveries WHERE project_id = ?1`,
          )
            .bind(world.project, world.endpoint.id)
            .run()
        }),
      filters: ['state=failed', 'state=pending', ''],
    },
  },
  [`POST ${ENDPOINTS}/:id/deliveries/:number/resend`]: {
    who: WRITE,
    status: 202,
    audit: onEndpoint('resent'),
    faults: { resend_limit_reached: () => beyondResends('deliveries/NUMBER/resend') },
    console: { [`POST ${PAGES}/:id/deliveries/:number/resend`]: {} },
  },
  [`POST ${ENDPOINTS}/:id/resend`]: {
    who: WRITE,
    json: { after: 0, until: 1 },
    status: 202,
    audit: onEndpoint('resent'),
    console: asks(`${PAGES}/:id/resend`, { fields: { after: '0', until: '1' } }),
  },
}
