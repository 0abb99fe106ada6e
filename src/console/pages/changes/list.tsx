import type { Change } from '../../../feed/fields'
import { KEPT_DAYS } from '../../../feed/limits'
import { changed, orderIn, sortedBy } from '../../list'
import { hasPath, objectPath } from '../../object-paths'
import { pathsOf, type Visit } from '../../page'
import type { Mistakes } from '../../refusal'
import { TestBadge } from '../../ui/badge'
import { BothModes } from '../../ui/both-modes'
import { Field, Select } from '../../ui/controls'
import { CsvLink } from '../../ui/csv-link'
import { ActiveFilters, FilterActions, KeptOrder } from '../../ui/filters'
import { timeOf } from '../../ui/format'
import { NamedId } from '../../ui/id'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Total } from '../../ui/total'
import { settingLabel } from '../general/said'
import { Because } from './cause'
import { ALL_TYPES, type FoundChanges } from './find'
import { isNew, linesOf } from './lines'
import { Linked } from './linked'
import { billedBy, modeOfChange, type Names, NO_NAMES, nameOf } from './names'
import { CHOICES, saidOf } from './words'

/** The changes of the project. `list` is null if the filter is invalid. */
export function listPage(
  c: Visit,
  { types, mistakes }: { types: string; mistakes: Mistakes },
  list: FoundChanges | null,
  names: Names = NO_NAMES,
) {
  const { changes } = pathsOf(c)
  const query = new URL(c.req.url).searchParams
  const order = orderIn(query)
  // Not one change alone.
  const isList = list !== null && c.req.query('number') === undefined
  const options = CHOICES.some(([value]) => value === types) ? CHOICES : [...CHOICES, [types, types] as const]
  return show(
    c,
    { title: 'Changes', section: 'changes', status: list === null ? 422 : 200 },
    <>
      <Head title="Changes">{isList && list.data.length > 0 && <CsvLink c={c} at={changes} />}</Head>
      <BothModes c={c}>Changes</BothModes>
      <p class="quiet">
        The changes that your servers read at <code>GET /platform/v1/changes</code>. They are kept for {KEPT_DAYS} days.
      </p>
      <search>
        <form class="search" method="get" action={changes}>
          <KeptOrder order={order} />
          <div class="filters">
            <Field name="types" label="Type" mistakes={mistakes}>
              <Select name="types" value={types} options={options} />
            </Field>
            <FilterActions clear={types === '' ? null : changes} />
          </div>
        </form>
      </search>
      {types === '' && (
        <ActiveFilters
          of={[['Without webhook events', changed(query, { types: ALL_TYPES, cursor: null })]]}
          clear={false}
        />
      )}
      {list && (
        <>
          <Total n={list.total} one="change" />
          {list.data.length > 0 ? (
            <Table
              label="Changes"
              rows={list.data}
              columns={columnsOf(c, names)}
              class="audit changed"
              {...(isList && { sorted: sortedBy('When', order, query) })}
            />
          ) : (
            <p class="quiet">
              {list.has_more
                ? 'No matching changes on this page. More changes are on the next page.'
                : `No matching changes in the last ${KEPT_DAYS} days.`}
            </p>
          )}
          <Pager c={c} cursor={list.next_cursor} />
        </>
      )}
    </>,
  )
}

function columnsOf(c: Visit, names: Names): Column<Change>[] {
  const { now } = c.get('rt')
  return [
    ['Type', (change) => <What of={change} names={names} />],
    ['Object', (change) => <Changed c={c} change={change} names={names} />],
    [
      'Consumer',
      ({ consumer_id: id }) =>
        id && <Linked to={`${pathsOf(c).consumers}/${id}`} id={id} name={names.objects.get(id)?.name} />,
    ],
    [
      'Cause',
      (change) =>
        (change.cause !== null || (change.causes ?? []).length > 0) && <Because c={c} change={change} names={names} />,
      'spare',
    ],
    ['When', ({ at }) => <Time at={timeOf(at)} now={now} />],
    ['Number', ({ number }) => number.toLocaleString('en'), 'number spare'],
  ]
}

/** What a change is about. An object of a vendor has its id beside its name, because the vendor knows it by that. */
function Changed({ c, change, names }: { c: Visit; change: Change; names: Names }) {
  const to = changedPath(c, change)
  const title = billedBy(change, names)?.title
  if (title !== undefined) return <NamedId to={to} id={change.object.id} title={title} />
  return <Linked to={to} id={change.object.id} name={nameOf(change, names)} />
}

/** Lines that the list shows of what a change changed. */
const MAX_LINES_SHOWN = 5

/** What changed: the values before and after where they are known, or else the names of the fields. A new object has no changed fields. */
function What({ of, names }: { of: Change; names: Names }) {
  const { type, fields, features = [] } = of
  const created = isNew(of, names)
  const lines = linesOf(of, names) ?? []
  const allowed = features.map(({ key, before, after }) => `${key}: ${valueText(before)} → ${valueText(after)}`)
  const all = [...lines, ...allowed]
  return (
    <>
      {created ? saidOf(type).replace(/changed$/, 'created') : saidOf(type)}
      {modeOfChange(of, names) === false && (
        <>
          {' '}
          <TestBadge of={false} />
        </>
      )}
      {lines.length === 0 && !created && fields !== null && fields.length > 0 && (
        <span class="line quiet">
          <FieldNames of={fields} type={type} />
        </span>
      )}
      {all.slice(0, MAX_LINES_SHOWN).map((line) => (
        <span class="line quiet">{line}</span>
      ))}
      {all.length > MAX_LINES_SHOWN && <span class="line quiet">and {all.length - MAX_LINES_SHOWN} more</span>}
    </>
  )
}

/** Fields that a line of the list names. */
const MAX_FIELDS_SHOWN = 6

function FieldNames({ of, type }: { of: readonly string[]; type: string }) {
  const isOfSettings = type === 'project.settings_changed'
  const more = of.length - MAX_FIELDS_SHOWN
  const named = of.slice(0, MAX_FIELDS_SHOWN).map((name) => (isOfSettings && settingLabel(name)) || fieldLabel(name))
  return (
    <>
      {named.join(', ')}
      {more > 0 && ` and ${more} more`}
    </>
  )
}

const fieldLabel = (name: string) => (name === 'livemode' ? 'mode' : name.replaceAll('_', ' '))

/** Characters that are shown of a value of a feature. */
const MAX_VALUE_SHOWN = 60

/** A value of a feature, in few words. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'not allowed'
  if (value === true) return 'allowed'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_VALUE_SHOWN ? `${text.slice(0, MAX_VALUE_SHOWN)}…` : text
}

function changedPath(c: Visit, { object, consumer_id }: Pick<Change, 'object' | 'consumer_id'>): string | undefined {
  const paths = pathsOf(c)
  const { type, id, vendor } = object
  switch (type) {
    case 'webhook_event':
      return objectPath(paths, { type: 'event', id, vendor })
    case 'grant':
      return `${paths.consumers}/${consumer_id}/grants`
    case 'entitlements':
      return consumer_id === null ? paths.general : `${paths.consumers}/${consumer_id}`
    case 'project':
      return paths.general
    default:
      return hasPath(type) ? objectPath(paths, { type, id, vendor }) : undefined
  }
}
