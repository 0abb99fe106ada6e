import type { Child } from 'hono/jsx'
import type { Link } from '../../../consumers/links'
import type { Consumer } from '../../../consumers/read'
import { devicesPath } from '../../object-paths'
import { pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { Id } from '../../ui/id'
import { Time } from '../../ui/parts'
import { EMAIL_COLUMN, Table } from '../../ui/table'

/** What a consumer is called: by its name or, if it has none, by the next best. */
export function titleOf({ name, email, external_ids, id }: Consumer): string {
  return name ?? email ?? external_ids[0] ?? id
}

/** The devices of the consumer in the path of the visit. */
export const devicesTab = (c: Visit) => devicesPath(pathsOf(c), c.req.param('consumer') ?? '')

/** The page of a consumer, and its place above the pages about it. */
export function placeOfConsumer(c: Visit, row: Consumer) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return { path, view: { section: 'consumers', above: [titleOf(row), path] } } as const
}

/**
 * Consumers to choose one from, each with what chooses it.
 *
 * @param props.says why these; by default, a typed text can mean each of them
 * @param props.more whether there are others
 */
export function Choices(props: {
  c: Visit
  rows: Consumer[]
  more?: boolean
  choose: (row: Consumer) => Child
  says?: string | undefined
}) {
  const { c, rows, choose } = props
  const { says = rows.length === 1 ? 'One consumer matches:' : 'Several consumers match. Choose one:' } = props
  return (
    <>
      <p>{says}</p>
      <Table
        label="Consumers that match"
        rows={rows}
        class="consumers"
        columns={[
          ['Consumer', (row) => <span class="name">{titleOf(row)}</span>],
          EMAIL_COLUMN,
          ['Your ID', ({ external_ids: [first] }) => first && <Id>{first}</Id>],
          ['State', ({ state }) => <Badge of={state} />],
          ['Created', ({ created_at }) => <Time at={created_at} now={c.get('rt').now} />, 'spare'],
          ['', choose],
        ]}
      />
      {props.more && <p>Only the first {rows.length} are listed. Enter more letters to find others.</p>}
    </>
  )
}

/** The types of events by their ids, as far as they are known. */
export type TypeOf = ReadonlyMap<string, string>

type LinkedProps = { c: Visit; of: Link; typeOf?: TypeOf | undefined }

/** What decides which consumer a customer is, with the event. Renders nothing if nothing does. */
export function LinkedBy({ c, of: { linked_by, event_id }, typeOf }: LinkedProps) {
  if (linked_by === null) return null
  if (linked_by === 'manual') return <>Set manually</>
  const what = linked_by === 'customer' ? 'By its metadata' : 'By a checkout or subscription'
  if (event_id === null) return <>{what}</>
  return (
    <>
      {what}, in{' '}
      <a href={`${pathsOf(c).events}/${event_id}`} title={event_id}>
        {typeOf?.get(event_id) ?? 'an event'}
      </a>
    </>
  )
}
