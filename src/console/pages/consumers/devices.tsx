import type { Device } from '../../../consumers/devices'
import type { Consumer } from '../../../consumers/read'
import { revokeDevice } from '../../../devices/revoke'
import { changeOf } from '../../../http/auth'
import { action } from '../../action'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { brief, capital } from '../../ui/format'
import { Id } from '../../ui/id'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { deviceName, KEY, Keys, PLATFORM_NAMES } from './keys'
import { devicesTab, placeOfConsumer } from './parts'
import { addressedConsumer, readDevice, readLiving, type ShownConsumer } from './read'

/** The keys and devices of the consumer: the active ones first, then the last that were revoked. */
export function Devices({ c, of: { row, devices } }: { c: Visit; of: ShownConsumer }) {
  const { active, limit, data, more } = devices
  const others = data.filter(({ platform }) => platform !== KEY)
  return (
    <>
      <Keys c={c} row={row} keys={data.filter(({ platform }) => platform === KEY)} />
      <h2>Devices</h2>
      <p class="quiet">
        {active} of {limit} active, keys included.
        {active > limit && ' That is over the limit. These devices stay active, but no new one can be registered.'}
        {more && (
          <>
            {' '}
            These are not all: your server can list them with <code>GET /consumers/{row.id}/devices</code>.
          </>
        )}
      </p>
      {others.length > 0 && <Table label="Devices" rows={others} columns={columnsOf(c, row)} class="consumers" />}
    </>
  )
}

function columnsOf(c: Visit, { id }: Consumer): Column<Device>[] {
  const { now } = c.get('rt')
  const columns: Column<Device>[] = [
    [
      'Device',
      (device) => (
        <>
          <span class="name">{deviceName(device)}</span>
          <code class="line quiet">{device.installation_id}</code>
        </>
      ),
    ],
    [
      'Platform',
      ({ platform, os_version }) =>
        [PLATFORM_NAMES[platform] ?? capital(platform), os_version].filter(Boolean).join(' '),
    ],
    ['App version', ({ app_version }) => app_version],
    ['State', ({ state }) => <Badge of={state} />],
    ['Last seen', ({ last_seen_at }) => <Time at={last_seen_at} now={now} />],
  ]
  const revoke: Column<Device> = [
    '',
    (device) =>
      device.state === 'active' && (
        <a class="button" href={`${pathsOf(c).consumers}/${id}/devices/${device.id}/revoke`} data-dialog>
          Revoke<span class="unseen"> {brief(deviceName(device))}</span>
        </a>
      ),
  ]
  return can(c, 'consumers:write') ? [...columns, revoke] : columns
}

export const revokeDevicePages = action({
  at: '/:consumer/devices/:device/revoke',
  needs: 'consumers:write',
  counted: { ends: true },
  read: async (c) => {
    const row = await readLiving(c)
    return { row, device: await readDevice(c, row) }
  },
  ask: (c, { row, device }) => ({
    ...placeOfConsumer(c, row).view,
    title: device.platform === KEY ? 'Revoke key' : 'Revoke device',
    question: `Revoke ${deviceName(device)}?`,
    says: (
      <>
        <p>
          <Id>{device.installation_id}</Id>
        </p>
        <p>
          {device.platform === KEY ? 'All of its tokens stop' : 'Its token stops'} being valid immediately. This
          installation can never be registered again for this consumer. <strong>This cannot be undone.</strong>{' '}
          {device.platform !== KEY && (
            <>
              To sign a device out without blocking it for good, have your server register it again with{' '}
              <code>new_token</code> instead.
            </>
          )}
        </p>
      </>
    ),
    verb: device.platform === KEY ? 'Revoke key' : 'Revoke device',
    danger: true,
  }),
  run: (c) => revokeDevice(c.get('rt').db, { ...addressedConsumer(c), id: c.req.param('device') ?? '' }, changeOf(c)),
  done: (c) => [devicesTab(c), 'device_revoked'],
})
