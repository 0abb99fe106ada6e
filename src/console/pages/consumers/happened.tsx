import type { CustomerKey } from '../../../billing/customers/read'
import type { Device } from '../../../consumers/devices'
import type { EndedLink } from '../../../consumers/ended-links'
import type { Link } from '../../../consumers/links'
import { idTime } from '../../../lib/ids'
import { can, pathsOf, type Visit } from '../../page'
import { Differences } from '../../ui/differences'
import { NamedId } from '../../ui/id'
import { Dotted } from '../../ui/parts'
import { type NamedEntry, Who } from '../audit-log/entry'
import type { Happened } from '../audit-log/history'
import { saidOf } from '../audit-log/words'
import { customerPath } from '../customers/read'
import type { ShownEdit } from './edits'
import { deviceName, KEY } from './keys'
import type { ShownConsumer } from './read'

/** Parts that a line of the history shows of what a change changed. */
const CHANGES_SHOWN = 8

/**
 * What happened to a consumer that the audit log does not say: its creation, changes of its fields, devices that registered, and links
 * that events made or ended.
 */
export function happenedTo(c: Visit, of: ShownConsumer): Happened[] {
  const { row, devices, customers, endedLinks, past } = of
  return [
    ...past.edits.map((edit) => edited(c, of, edit)),
    // Each key has an entry of its own.
    ...devices.data.filter(({ platform }) => platform !== KEY).map(registered),
    ...customers.flatMap((link) => linked(c, of, link)),
    ...endedLinks.map((link) => ended(c, link)),
    { at: row.created_at, who: by(c, of, past.created_by), what: 'Created the consumer' },
  ]
}

/** Who made a change; null if that was not recorded. */
function by(c: Visit, { past: { names } }: ShownConsumer, id: string | null) {
  if (id === null) return 'Not recorded'
  if (id.startsWith('sso_')) return <a href={`${pathsOf(c).sso}/${id}`}>Single sign-on</a>
  const name = names.get(id) ?? null
  const actor_type = id.startsWith('key_') ? 'api_key' : 'user'
  return <Who c={c} row={{ actor_type, actor_id: id, actor_name: name, actor_email: name }} />
}

function edited(c: Visit, of: ShownConsumer, { at, by: id, differences, named }: ShownEdit): Happened {
  return {
    at,
    who: by(c, of, id),
    what: (
      <>
        {named === undefined || differences.length > 0 ? 'Changed the consumer' : 'Added an ID'}
        {named !== undefined && (
          <span class="line quiet">
            {differences.length > 0 && 'ID added: '}
            <code>{named}</code>
          </span>
        )}
        {differences.length > 0 && <Differences of={differences} most={CHANGES_SHOWN} />}
      </>
    ),
  }
}

/** An entry of the audit log about a device calls it by its name, if the page knows the device. */
export function deviceOf({ devices }: ShownConsumer, { object_id, action, said }: NamedEntry) {
  const device = devices.data.find(({ id }) => id === object_id)
  if (!device) return undefined
  const { more } = saidOf({ action, details: said })
  return (
    <span class="line quiet">
      {deviceName(device)}
      {more && `, ${more}`}
    </span>
  )
}

function registered(device: Device): Happened {
  return {
    at: idTime(device.id),
    who: 'Your server',
    what: (
      <>
        Registered a device
        <span class="line quiet">{deviceName(device)}</span>
      </>
    ),
  }
}

/** A link that an event makes. A customer’s own events repeat it, and only the newest of them is known: it may have made the link, or not. */
function linked(c: Visit, { linkedBy: typeOf, calledOf }: ShownConsumer, link: Link): Happened[] {
  const { linked_by, event_id } = link
  if (event_id === null) return []
  const type = typeOf.get(event_id)
  return [
    {
      at: idTime(event_id),
      who:
        type === undefined ? (
          'An event that is archived or no longer stored'
        ) : (
          <EventLink c={c} id={event_id} type={type} />
        ),
      what: (
        <>
          {linked_by === 'customer'
            ? 'Linked a customer, or confirmed its link, by its metadata'
            : 'Linked a customer, by a checkout or subscription'}
          <Customer c={c} of={link} title={calledOf(link)} />
        </>
      ),
    },
  ]
}

function ended(c: Visit, link: EndedLink): Happened {
  return {
    at: link.moved_at,
    who: 'An event or a pin',
    what: (
      <>
        Ended the link of a customer
        <Customer c={c} of={link} title={can(c, 'billing:read') ? (link.name ?? undefined) : undefined} />
      </>
    ),
  }
}

const EventLink = ({ c, id, type }: { c: Visit; id: string; type: string }) => (
  <a href={`${pathsOf(c).events}/${id}`}>
    <Dotted>{type}</Dotted>
  </a>
)

type CustomerProps = { c: Visit; of: CustomerKey; title: string | undefined }

const Customer = ({ c, of, title }: CustomerProps) => (
  <span class="line">
    <NamedId id={of.id} title={title} to={customerPath(c, of)} />
  </span>
)
