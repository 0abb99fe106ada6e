import type { Device } from '../../../consumers/devices'
import type { EndedLink } from '../../../consumers/ended-links'
import type { Link } from '../../../consumers/links'
import { idTime } from '../../../lib/ids'
import { pathsOf, type Visit } from '../../page'
import { Id } from '../../ui/id'
import type { Happened } from '../audit-log/history'
import { customerPath } from '../customers/read'
import { deviceName, KEY } from './keys'
import type { ShownConsumer } from './read'

/** What happened to a consumer that the audit log does not say: devices that registered, and links that events made or ended. */
export function happenedTo(c: Visit, { devices, customers, endedLinks }: ShownConsumer): Happened[] {
  return [
    // Each key has an entry of its own.
    ...devices.data.filter(({ platform }) => platform !== KEY).map(registered),
    ...customers.flatMap((link) => linked(c, link)),
    ...endedLinks.map((link) => ended(c, link)),
  ]
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

/** A link that an event makes. A customer’s own events repeat it: then it is the newest. */
function linked(c: Visit, { vendor, id, linked_by, event_id }: Link): Happened[] {
  if (event_id === null) return []
  return [
    {
      at: idTime(event_id),
      who: <a href={`${pathsOf(c).events}/${event_id}`}>An event</a>,
      what: (
        <>
          Linked a customer, by {linked_by === 'customer' ? 'its metadata' : 'a checkout or subscription'}
          <Customer c={c} of={{ vendor, id }} />
        </>
      ),
    },
  ]
}

function ended(c: Visit, { vendor, id, moved_at }: EndedLink): Happened {
  return {
    at: moved_at,
    who: 'An event or a pin',
    what: (
      <>
        Ended the link of a customer
        <Customer c={c} of={{ vendor, id }} />
      </>
    ),
  }
}

const Customer = ({ c, of }: { c: Visit; of: Pick<Link, 'vendor' | 'id'> }) => (
  <a class="line" href={customerPath(c, of)}>
    <Id>{of.id}</Id>
  </a>
)
