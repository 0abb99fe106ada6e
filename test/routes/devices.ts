import { insertConsumer } from '../consumers/rows'
import { insertDevice, insertDevices } from '../devices/rows'
import { asks, byKey, may, type Rows, read, times } from './row'

const PAGES = '/console/p/:project/platform/consumers/:consumer/devices'
const OF_ONE = '/platform/v1/consumers/ext:one/devices'
const IOS = { platform: 'ios' }
const WRITE = may('developer', 'consumers:write')

export const DEVICES: Rows = {
  'GET /platform/v1/consumers/:consumer/devices': {
    who: read('consumers:read'),
    list: {
      add: ({ project, consumer }, n) => times(n, () => insertDevice(project, consumer)),
      filters: ['state=active', 'state=revoked', ''],
    },
    console: { [`GET ${PAGES}`]: { policy: 'user' }, [`GET ${PAGES}/:device`]: { policy: 'user' } },
  },
  // The id of the sample is its installation id as well.
  'PUT /platform/v1/consumers/:consumer/devices/:device': {
    who: WRITE,
    json: {
      platform: 'ios',
      name: 'sample',
      model: 'sample',
      os_version: '1',
      app_version: '1',
      new_token: true,
      when_full: 'replace_oldest',
    },
    audit: null,
    faults: {
      consumer_blocked: async () => {
        const { project, send } = await byKey()
        const id = await insertConsumer(project, 'one')
        await send('POST', `/platform/v1/consumers/${id}/block`, {})
        return send('PUT', `${OF_ONE}/new`, IOS)
      },
      device_revoked: async () => {
        const { project, send } = await byKey()
        const id = await insertDevice(project, await insertConsumer(project, 'one'), { state: 'revoked' })
        return send('PUT', `${OF_ONE}/${id}`, IOS)
      },
      device_limit_reached: async () => {
        const { project, send } = await byKey()
        await insertDevices(project, await insertConsumer(project, 'one'), 'active', 100)
        return send('PUT', `${OF_ONE}/new`, IOS)
      },
    },
  },
  'DELETE /platform/v1/consumers/:consumer/devices/:device': {
    who: WRITE,
    audit: { action: 'device.revoked', object: ({ device }) => device },
    console: asks(`${PAGES}/:device/revoke`),
  },
  'POST /platform/v1/devices/verify': {
    who: read('entitlements:read'),
    json: { token: `svc_dv_${'0'.repeat(64)}`, features: ['sso'] },
    audit: null,
  },
}
