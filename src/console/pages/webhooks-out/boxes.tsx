import type { Child } from 'hono/jsx'
import type { ChangeObject } from '../../../feed/types'
import { textsIn } from '../../form'
import type { Sent } from '../../refusal'
import { Wrong } from '../../ui/controls'
import { vendorTitle } from '../../ui/vendor-titles'
import type { Choosable } from './read'

/** The types of changes by what they are about, as somebody looks for them. */
const GROUPS: readonly (readonly [string, Partial<Record<ChangeObject, string>>])[] = [
  [
    'Billing',
    {
      subscription: 'Subscriptions',
      invoice: 'Invoices',
      payment_method: 'Payment methods',
      purchase: 'Purchases',
      customer: 'Customers',
    },
  ],
  ['Consumers', { consumer: 'Consumers', device: 'Devices and keys' }],
  [
    'Access',
    {
      entitlements: 'Entitlements',
      grant: 'Grants',
      plan: 'Plans',
      feature: 'Features',
      entitlement_key: 'Entitlement token keys',
    },
  ],
  [
    'Webhooks from vendors',
    {
      webhook_event: 'Processing of events',
      event: 'Replays of one event',
      replay: 'Replays of several events',
      connection: 'Connections',
      import: 'Imports',
    },
  ],
  ['Project', { project: 'Project and settings', api_key: 'API keys', webhook_endpoint: 'Webhook endpoints' }],
]
const BOXED = GROUPS.flatMap(([, objects]) => Object.keys(objects).map((object) => `${object}.*`))

type TypesProps = { sent: Sent; others: (sent: Sent) => Child }

/** A box for all changes of each kind of object. @param props.others the text for all other types, filled in as said */
export function ChangeBoxes({ sent, others }: TypesProps) {
  const chosen = textsIn(sent.entered ?? new URLSearchParams(), 'types')
  const rest = chosen.filter((type) => !BOXED.includes(type)).join('\n')
  return (
    <>
      {GROUPS.map(([group, objects]) => (
        <fieldset>
          <legend>{group}</legend>
          <div class="checks">
            {Object.entries(objects).map(([object, label]) => (
              <Box name="types" value={`${object}.*`} label={label} chosen={chosen} />
            ))}
          </div>
        </fieldset>
      ))}
      {others({ ...sent, entered: new URLSearchParams({ types: rest }) })}
    </>
  )
}

const IDS = 'relay.connection_ids'

/** A box for each connection. One that was deleted keeps its box while the relay names it. */
export function ConnectionBoxes({ sent, connections }: { sent: Sent; connections: Choosable[] }) {
  const chosen = textsIn(sent.entered ?? new URLSearchParams(), IDS)
  const gone = chosen.filter((id) => !connections.some((one) => one.id === id))
  return (
    <fieldset>
      <legend>Connections</legend>
      <div class="checks one">
        {connections.map(({ id, name, vendor, livemode }) => (
          <Box
            name={IDS}
            value={id}
            label={`${name} (${vendorTitle(vendor)}${livemode ? '' : ', test mode'})`}
            chosen={chosen}
          />
        ))}
        {gone.map((id) => (
          <Box name={IDS} value={id} label={id} chosen={chosen} />
        ))}
      </div>
      <p class="hint">
        {connections.length > 0
          ? 'If you select none, events from all connections are sent, including connections that you add later.'
          : 'There are no connections yet. Events from every connection that you add are sent.'}
      </p>
      <Wrong>{sent.mistakes[IDS]}</Wrong>
    </fieldset>
  )
}

function Box({ name, value, label, chosen }: { name: string; value: string; label: string; chosen: string[] }) {
  return (
    <label>
      <input type="checkbox" name={name} value={value} checked={chosen.includes(value)} autocomplete="off" /> {label}
    </label>
  )
}
