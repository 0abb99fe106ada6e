import { AuditFilters } from '../../../audit-log/filters'
import type { Order } from '../../../http/page'
import { DAY, iso } from '../../../lib/time'
import { addFilled, changed, orderIn } from '../../list'
import { type Mistakes, parse, refusalOf } from '../../refusal'
import { Field, type Option, type OptionGroup, Select } from '../../ui/controls'
import { FilterActions, FilterChips, FilterField, KeptOrder } from '../../ui/filters'
import { ACTIONS } from './words'

const NAMES = ['actor_id', 'action', 'object_type', 'object_id', 'created_after', 'created_before'] as const

/** What the address asks for. `filters` is null if they are invalid. */
export type AskedEntries = {
  query: URLSearchParams
  filters: AuditFilters | null
  order: Order | undefined
  mistakes: Mistakes
}
export type ReadableEntries = { filters: AuditFilters; order: Order | undefined }

/** Reads the filters from an address. It drops empty fields and treats times without a zone as UTC. */
export function readFilters(sent: URLSearchParams): AskedEntries {
  const query = new URLSearchParams()
  addFilled(query, sent, NAMES)
  const order = orderIn(sent)
  try {
    return { query, filters: parse(AuditFilters, Object.fromEntries(query)), order, mistakes: {} }
  } catch (error) {
    return { query, filters: null, order, mistakes: refusalOf(error).mistakes }
  }
}

/** Who can be chosen as an actor: ids with their names. */
export type Actors = readonly (readonly [id: string, name: string])[]

/**
 * The kinds of objects, in the order of the filter: what each is called, what finds all its changes, and what its actions begin with.
 */
const KINDS: readonly (readonly [label: string, all: Option | null, of: readonly string[]])[] = [
  ['Project', ['project.*', 'All changes to the project'], ['project']],
  ['API keys', ['api_key.*', 'All changes to API keys'], ['api_key']],
  ['Members', ['member.*', 'All changes to members'], ['member']],
  ['Invitations', ['invitation.*', 'All changes to invitations'], ['invitation']],
  ['Single sign-on', ['sso*', 'All changes to single sign-on'], ['sso', 'sso_connection', 'sso_identity']],
  ['Consumers', ['consumer.*', 'All changes to consumers'], ['consumer']],
  ['Customers', ['customer.*', 'All changes to customers'], ['customer']],
  ['Devices', ['device.*', 'All changes to devices'], ['device']],
  ['Features', ['feature.*', 'All changes to features'], ['feature']],
  ['Plans', ['plan.*', 'All changes to plans'], ['plan']],
  ['Grants', ['grant.*', 'All changes to grants'], ['grant']],
  ['Entitlement token key', null, ['entitlement_key']],
  ['Domains', ['domain.*', 'All changes to domains'], ['domain']],
  ['Connections', ['connection.*', 'All changes to connections'], ['connection']],
  ['Imports', ['import.*', 'All changes to imports'], ['import']],
  ['Webhook endpoints', ['webhook_endpoint.*', 'All changes to webhook endpoints'], ['webhook_endpoint']],
  ['Replays', ['event*', 'All replays'], ['event', 'events']],
]
const kindOf = (action: string) => action.slice(0, action.indexOf('.'))

/** The changes to choose from, by the kind of their objects. */
const CHANGES: readonly OptionGroup[] = KINDS.map(([label, all, of]) => {
  const each = Object.entries(ACTIONS).filter(([action]) => of.includes(kindOf(action)))
  return [label, [...(all ? [all] : []), ...each.map(([action, { did }]): Option => [action, did])]]
})

/** How many days before today entries are of, that a link finds. */
const SPANS = [
  ['Any time', null],
  ['Today', 0],
  ['Last 7 days', 7],
  ['Last 30 days', 30],
] as const

/** Links to the entries since the beginning of a day (UTC). */
export function SpanChips({ address, now }: { address: URLSearchParams; now: number }) {
  const since = address.get('created_after') || null
  const isOpen = !address.get('created_before')
  const options = SPANS.map(([label, days]) => {
    const created_after = days === null ? null : `${iso(now - days * DAY).slice(0, 10)}T00:00`
    const href = changed(address, { created_after, created_before: null, cursor: null })
    return { label, href, on: isOpen && since === created_after }
  })
  return <FilterChips label="When" options={options} />
}

export function EntryFilters({ asked, actors, action }: { asked: AskedEntries; actors: Actors; action: string }) {
  const { query, mistakes } = asked
  const chosen = (name: string) => query.get(name) ?? ''
  return (
    <search>
      <form class="search" method="get" action={action}>
        <KeptOrder order={asked.order} />
        <div class="filters audit-filters">
          <Choice name="actor_id" label="Who" of={asked} options={[['', 'Anyone'], ...actors]} />
          <Choice name="action" label="What" of={asked} options={[['', 'Any change']]} groups={CHANGES} />
          <FilterField of={asked} name="object_id" label="Object ID" />
          <FilterField of={asked} name="created_after" label="Since (UTC)" type="datetime-local" />
          <FilterField of={asked} name="created_before" label="Before (UTC)" type="datetime-local" />
          {chosen('object_type') !== '' && (
            <FilterField of={{ query, mistakes }} name="object_type" label="Object type" />
          )}
          <FilterActions clear={query.size > 0 ? action : null} />
        </div>
      </form>
    </search>
  )
}

type ChoiceProps = {
  name: string
  label: string
  of: AskedEntries
  options: readonly Option[]
  groups?: readonly OptionGroup[]
}

/** A list to choose from. It includes the value in the address, even if that is not one of the usual choices. */
function Choice({ name, label, of: { query, mistakes }, options, groups = [] }: ChoiceProps) {
  const value = query.get(name) ?? ''
  const isUsual = [...options, ...groups.flatMap(([, some]) => some)].some(([known]) => known === value)
  const all = isUsual ? options : [...options, [value, value] as const]
  return (
    <Field name={name} label={label} mistakes={mistakes}>
      <Select name={name} value={value} options={all} groups={groups} />
    </Field>
  )
}
