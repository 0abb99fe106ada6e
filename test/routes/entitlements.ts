import { insertFeatures } from '../catalog/rows'
import { insertConsumer } from '../consumers/rows'
import { insertGrants, insertState } from '../entitlements/rows'
import { asks, byKey, may, people, type Rows, read, times } from './row'

const PAGES = '/console/p/:project/platform/consumers/:consumer'
const WRITE = may('developer', 'entitlements:write')

export const ENTITLEMENTS: Rows = {
  'POST /platform/v1/billing/entitlements/check': {
    who: read('entitlements:read'),
    json: { consumers: ['ext:sample', 'ext:nobody'], features: ['sso', 'seats'] },
    audit: null,
  },
  'GET /platform/v1/billing/entitlements': {
    who: read('entitlements:read'),
    list: {
      add: ({ project }, n) => times(n, () => insertState(project)),
      id: ({ consumer_id }) => consumer_id as string,
    },
  },
  'GET /platform/v1/consumers/:consumer/entitlements': {
    who: read('entitlements:read'),
    console: { [`GET ${PAGES}/entitlements`]: {} },
  },
  'POST /platform/v1/consumers/:consumer/refresh': {
    who: may('developer', 'billing:write'),
    json: { checkout: { vendor: 'stripe', id: 'cs_1' }, features: ['sso'] },
    audit: null,
  },
  'POST /platform/v1/consumers/:consumer/entitlements/token': {
    who: read('entitlements:read'),
    json: { ttl_s: 60, features: ['sso'] },
    status: 201,
    audit: null,
  },
  'POST /platform/v1/billing/entitlement-keys/rotate': {
    who: people('admin', 'projects:write'),
    json: { compromised: false },
    audit: { action: 'entitlement_key.rotated', object: () => /^[\w-]{43}$/ },
  },
  'GET /p/:project/jwks.json': { who: 'public' },
  'POST /platform/v1/billing/grants': {
    who: WRITE,
    json: {
      consumer: 'ext:sample',
      feature: 'seats',
      value: 5,
      effect: 'allow',
      starts_at: '2026-01-01T00:00:00Z',
      expires_at: '2099-01-01T00:00:00Z',
      reason: 'sample',
    },
    status: 201,
    audit: { action: 'grant.created', object: () => /^grt_/ },
    faults: {
      grant_limit_reached: async () => {
        const { project, send } = await byKey()
        await insertFeatures(project, 'sso')
        const consumer = await insertConsumer(project, 'ada')
        await insertGrants(project, consumer, 100)
        return send('POST', '/platform/v1/billing/grants', { consumer, feature: 'sso' })
      },
    },
    console: {
      [`GET ${PAGES}/grants/new`]: {},
      [`POST ${PAGES}/grants`]: { fields: { does: 'deny', feature: 'sso' } },
    },
  },
  'GET /platform/v1/billing/grants': {
    who: read('entitlements:read'),
    list: {
      add: ({ project, consumer }, n) => times(n, () => insertGrants(project, consumer)),
      filters: ['consumer=ext:sample', 'consumer=ext:survivor', ''],
    },
    console: { [`GET ${PAGES}/grants`]: {}, [`GET ${PAGES}/grants/:grant`]: { policy: 'user' } },
  },
  'DELETE /platform/v1/billing/grants/:id': {
    who: WRITE,
    audit: { action: 'grant.revoked', object: ({ grant }) => grant },
    console: asks(`${PAGES}/grants/:grant/revoke`),
  },
}
