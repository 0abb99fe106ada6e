import { insertConsumer } from '../consumers/rows'
import { insertDevice, insertDevices } from '../devices/rows'
import { call, STORE } from '../harness'
import { asks, byKey, may, type Rows, read, times } from './row'
import type { World } from './world'

const PAGES = '/console/p/:project/platform/consumers/:consumer/devices'
const OF_ONE = '/platform/v1/consumers/ext:one/devices'
const IOS = { platform: 'ios' }
const WRITE = may('developer', 'consumers:write')
const onDevice = (what: string) => ({ action: `device.${what}`, object: ({ device }: World) => device })

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
      scopes: ['sample'],
      metadata: { team: 'sample' },
      expires_at: '2035-01-01T00:00:00.000Z',
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
  'GET /platform/v1/consumers/:consumer/devices/:device': { who: read('consumers:read') },
  'PATCH /platform/v1/consumers/:consumer/devices/:device': {
    who: WRITE,
    json: { name: 'sample', scopes: ['a'] },
    audit: onDevice('updated'),
    console: asks(`${PAGES}/:device/edit`, { fields: { name: 'sample', scopes: 'a', expires: 'keep' } }),
  },
  'POST /platform/v1/consumers/:consumer/devices/:device/rotate': {
    who: WRITE,
    json: { when: 'now' },
    audit: onDevice('rotated'),
    console: asks(`${PAGES}/:device/rotate`, { status: 200 }),
    faults: {
      device_expired: async () => {
        const { project, send } = await byKey()
        const id = await insertDevice(project, await insertConsumer(project, 'one'))
        await STORE.prepare('UPDATE devices SET expires_at = 1 WHERE id = ?').bind(id).run()
        return send('POST', `${OF_ONE}/${id}/rotate`)
      },
    },
  },
  'DELETE /platform/v1/consumers/:consumer/devices/:device/pending-token': {
    who: WRITE,
    audit: { ...onDevice('pending_token_ended'), first: (world) => begin(world, { when: 'first_use' }) },
    console: asks(`${PAGES}/:device/end-pending`),
  },
  'DELETE /platform/v1/consumers/:consumer/devices/:device/previous-token': {
    who: WRITE,
    // The token of the sample has no prefix.
    audit: {
      ...onDevice('previous_token_ended'),
      first: async (world) => {
        await begin(world, {})
        await begin(world, { grace_s: 60 })
      },
    },
    console: asks(`${PAGES}/:device/end-previous`),
  },
  'DELETE /platform/v1/consumers/:consumer/devices/:device': {
    who: WRITE,
    audit: onDevice('revoked'),
    console: asks(`${PAGES}/:device/revoke`),
  },
  'POST /platform/v1/devices/verify': {
    who: read('entitlements:read'),
    json: { token: `svc_dv_${'0'.repeat(64)}`, features: ['sso'], require: ['a'] },
    audit: null,
  },
}

/** Rotates the device of a world. */
function begin({ project, owner, consumer, device }: World, json: Record<string, unknown>) {
  const path = `/platform/v1/consumers/${consumer}/devices/${device}/rotate`
  return call(path, { method: 'POST', project, token: owner.token, json })
}
