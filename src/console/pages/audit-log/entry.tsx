import type { Child } from 'hono/jsx'
import type { NamedObject } from '../../../audit-log/objects'
import type { AuditRow as Row } from '../../../audit-log/read'
import { toUnicode } from '../../../lib/punycode'
import { devicesPath } from '../../object-paths'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { type Difference, Differences } from '../../ui/differences'
import { words } from '../../ui/format'
import { Id } from '../../ui/id'
import { saidOf } from './words'

/**
 * An entry with the address of its actor, if that is a user, and the current state of its object, if that has a name. `said`: its
 * details, with names in place of ids where they are known. `differences`: what the change of a plan changed, if that is known.
 */
export type NamedEntry = Row & {
  actor_email: string | null
  object: NamedObject | null
  said: Row['details']
  differences?: Difference[] | undefined
}

/** How many changed parts of a plan an entry shows. The details of other entries are short. */
const CHANGES_SHOWN = 5

/** Who made a change. An API key leads to its page. */
export function Who({ c, row }: { c: Visit; row: Pick<NamedEntry, `actor_${'type' | 'id' | 'name' | 'email'}`> }) {
  if (row.actor_type === 'system') return <>The service</>
  if (row.actor_type === 'user') return <span class="cut">{row.actor_email ?? 'Unknown user'}</span>
  return (
    <>
      API key <a href={`${pathsOf(c).keys}/${row.actor_id}`}>“{row.actor_name ?? row.actor_id}”</a>
    </>
  )
}

/** What was changed, with a link to its page if there is one. */
export function About({ c, row }: { c: Visit; row: NamedEntry }) {
  const paths = pathsOf(c)
  const id = encodeURIComponent(row.object_id)
  const name = row.object?.name ?? row.object_id
  const ended = row.object !== null && row.object.ended_at !== null
  switch (row.object_type) {
    case 'project':
      return <a href={paths.general}>This project</a>
    case 'api_key':
      return (
        <>
          <a href={`${paths.keys}/${id}`}>{name}</a> {ended && <Badge of="revoked" />}
        </>
      )
    case 'member':
      return <a href={paths.members}>{row.object?.name ?? 'A former user'}</a>
    case 'invitation':
      return <a href={`${paths.members}/invitations`}>{words(row.details?.email ?? 'An invitation')}</a>
    case 'connection':
      // A deleted connection has no page.
      return (
        <>
          <a href={ended ? undefined : `${paths.connections}/${id}`}>{name}</a> {ended && <Badge of="deleted" />}
        </>
      )
    case 'domain':
      return (
        <>
          <a href={`${paths.domains}/${id}`}>{toUnicode(name)}</a> {ended && <Badge of="deleted" />}
        </>
      )
    case 'sso_connection':
      return (
        <>
          <a href={ended ? undefined : `${paths.sso}/${id}`}>{name}</a> {ended && <Badge of="deleted" />}
        </>
      )
    case 'consumer':
      return (
        <a href={`${paths.consumers}/${id}`}>
          <Called by={row.object?.name} id={row.object_id} />
        </a>
      )
    case 'customer':
      return (
        <a href={`${paths.customers}/${row.details?.vendor}/${id}`}>
          <Id>{row.object_id}</Id>
        </a>
      )
    case 'plan':
      return (
        <a href={`${paths.plans}/${id}`}>
          <Called by={row.object?.name} id={row.object?.key ?? row.object_id} />
        </a>
      )
    case 'feature':
      return <Feature c={c} row={row} />
    case 'grant':
      return <a href={`${paths.consumers}/${row.details?.consumer}/grants`}>{nameOrId(row)}</a>
    case 'device':
      return <Device c={c} row={row} />
    case 'event':
      return <a href={`${paths.events}/${id}`}>{nameOrId(row)}</a>
    case 'webhook_endpoint':
      return <a href={row.object ? `${paths.endpoints}/${id}` : undefined}>{nameOrId(row)}</a>
    case 'replay':
      return <a href={`${paths.replays}/${id}`}>{nameOrId(row)}</a>
    default:
      return <Id>{row.object_id}</Id>
  }
}

const nameOrId = ({ object, object_id }: NamedEntry) => object?.name ?? <Id>{object_id}</Id>

/** A feature with its name. One that was deleted has the name that its entry says, if it does. */
function Feature({ c, row: { object_id, object, details } }: { c: Visit; row: NamedEntry }) {
  const { features } = pathsOf(c)
  const edit = can(c, 'catalog:write') ? `/${encodeURIComponent(object_id)}/edit` : ''
  const former = typeof details?.name === 'string' ? details.name : undefined
  return (
    <>
      <a href={object ? `${features}${edit}` : undefined}>
        <Called by={object?.name ?? former} id={object_id} />
      </a>{' '}
      {!object && <Badge of="deleted" />}
    </>
  )
}

/** A device with its name and that of its consumer, whose page lists it. */
function Device({ c, row: { object, object_id, details, said } }: { c: Visit; row: NamedEntry }) {
  const consumer = details?.consumer
  if (typeof consumer !== 'string') return <Called by={object?.name} id={object_id} />
  const owner = said?.consumer === consumer ? undefined : String(said?.consumer)
  const name = object && owner ? `${object.name} of ${owner}` : (object?.name ?? owner)
  return (
    <a href={devicesPath(pathsOf(c), consumer)}>
      <Called by={name} id={object_id} />
    </a>
  )
}

/** A name with its id below it, or the id alone. */
function Called({ by, id }: { by: string | undefined; id: string }) {
  return (
    <>
      {by !== undefined && <span class="line">{by}</span>}
      <Id>{id}</Id>
    </>
  )
}

/** What was done, in words. @param instead what is shown instead of the details */
export function EntryWhat({ row, instead }: { row: NamedEntry; instead?: Child | undefined }) {
  const { did, more, changes } = saidOf({ action: row.action, details: row.said })
  const { differences = changes } = row
  return (
    <>
      {did}
      {differences.length > 0 && (
        <Differences of={differences} most={row.differences ? CHANGES_SHOWN : differences.length} />
      )}
      {differences.length === 0 && (instead ?? (more && <span class="line quiet">{more}</span>))}
    </>
  )
}

/** The code and the ids of an entry, and where they lead. */
export function EntryIds({ row }: { row: NamedEntry }) {
  const about = (name: 'actor_id' | 'object_id', id: string) => (
    <a href={`?${name}=${encodeURIComponent(id)}`}>
      <Id>{id}</Id>
    </a>
  )
  return (
    <details>
      <summary>
        IDs<span class="unseen"> of this entry</span>
      </summary>
      <dl class="ids">
        <dt>Action</dt>
        <dd>
          <code>{row.action}</code>
        </dd>
        <dt>Actor</dt>
        <dd>{about('actor_id', row.actor_id)}</dd>
        <dt>Object</dt>
        <dd>{about('object_id', row.object_id)}</dd>
        <dt>Request</dt>
        <dd>
          <Id>{row.client_request_id ?? row.request_id}</Id>
        </dd>
      </dl>
    </details>
  )
}
