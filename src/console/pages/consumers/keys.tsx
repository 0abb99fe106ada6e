import type { Device } from '../../../consumers/devices'
import type { Consumer } from '../../../consumers/read'
import { pendingToken, previousToken } from '../../../devices/verify'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { brief, capital, exact } from '../../ui/format'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

/** The platform whose devices are called keys. */
export const KEY: Device['platform'] = 'server'
export const PLATFORM_NAMES: Partial<Record<Device['platform'], string>> = { ios: 'iOS' }

/** What a device is called: by its owner or, without a name, by its model. */
export function deviceName({ name, model, platform }: Device): string {
  const kind = platform === KEY ? 'Key' : `${PLATFORM_NAMES[platform] ?? capital(platform)} device`
  return name ?? model ?? kind
}

/** The API keys that the consumer has for the project's product. */
export function Keys({ c, row, keys }: { c: Visit; row: Consumer; keys: Device[] }) {
  if (keys.length === 0) return null
  return (
    <>
      <h2>Keys</h2>
      <Table label="Keys" rows={keys} columns={columnsOf(c, row)} class="consumers" />
    </>
  )
}

function columnsOf(c: Visit, { id }: Consumer): Column<Device>[] {
  const { now } = c.get('rt')
  const columns: Column<Device>[] = [
    [
      'Key',
      (key) => (
        <>
          <span class="name">{deviceName(key)}</span>
          <code class="line quiet">{key.token_prefix ?? key.installation_id}</code>
          <Metadata of={key.metadata ?? {}} />
          <Rotation c={c} path={`${pathsOf(c).consumers}/${id}/devices/${key.id}`} of={key} />
        </>
      ),
    ],
    ['Scopes', ({ scopes }) => scopes?.map((scope) => <code class="line">{scope}</code>)],
    ['State', (key) => <Badge of={key.state === 'active' && isExpired(key, now) ? 'expired' : key.state} />],
    ['Expires', ({ expires_at }) => <Time at={expires_at} now={now} none="never" />],
    ['Last used', ({ last_seen_at }) => <Time at={last_seen_at} now={now} />],
  ]
  const actions: Column<Device> = [
    '',
    (key) =>
      key.state === 'active' &&
      ACTIONS.map(([verb, label]) => (
        <a
          class="button"
          href={`${pathsOf(c).consumers}/${id}/devices/${key.id}/${verb}`}
          {...(verb !== 'edit' && { 'data-dialog': true })}
        >
          {label}
          <span class="unseen"> {brief(deviceName(key))}</span>
        </a>
      )),
  ]
  return can(c, 'consumers:write') ? [...columns, actions] : columns
}

/** Entries of metadata that the list shows of a key. */
const SHOWN_ENTRIES = 3

const isExpired = ({ expires_at }: Device, now: number) => expires_at !== null && expires_at <= now

const ACTIONS = [
  ['edit', 'Edit'],
  ['rotate', 'Rotate'],
  ['revoke', 'Revoke'],
] as const

/** The first entries of a key's metadata. The form that changes the key shows them all. */
function Metadata({ of }: { of: NonNullable<Device['metadata']> }) {
  const entries = Object.entries(of)
  const more = entries.length - SHOWN_ENTRIES
  return (
    <>
      {entries.slice(0, SHOWN_ENTRIES).map(([name, value]) => (
        <span class="line quiet">
          {brief(name)}: {brief(value)}
        </span>
      ))}
      {more > 0 && <span class="line quiet">and {more} more</span>}
    </>
  )
}

/** The other tokens of a key that is being rotated. */
function Rotation({ c, path, of }: { c: Visit; path: string; of: Device }) {
  const { now } = c.get('rt')
  const end = (which: 'pending' | 'previous') =>
    can(c, 'consumers:write') && (
      <>
        {' '}
        <a href={`${path}/end-${which}`} data-dialog>
          End
          <span class="unseen">
            {' '}
            the {which === 'pending' ? 'new' : 'old'} token of {brief(deviceName(of))}
          </span>
        </a>
      </>
    )
  const pending = pendingToken(of, now)
  const previous = previousToken(of, now)
  return (
    <>
      {pending && (
        <span class="line quiet">
          New: <code>{pending.token_prefix}</code>, becomes current when first used, or expires at{' '}
          {exact(pending.expires_at)}
          {end('pending')}
        </span>
      )}
      {previous && (
        <span class="line quiet">
          Replaced: <code>{previous.token_prefix}</code>, works until {exact(previous.valid_until)}
          {previous.last_used_at !== null && `, last used at ${exact(previous.last_used_at)}`}
          {end('previous')}
        </span>
      )}
    </>
  )
}
