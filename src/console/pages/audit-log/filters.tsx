import { AuditFilters } from '../../../audit-log/filters'
import type { Order } from '../../../http/page'
import { DAY, iso } from '../../../lib/time'
import { addFilled, changed, orderIn } from '../../list'
import { type Mistakes, parse, refusalOf } from '../../refusal'
import { Field, Select } from '../../ui/controls'
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

/** All changes to one kind of object, for the filter. */
const KINDS = [
  ['', 'Any change'],
  ['api_key.*', 'All changes to API keys'],
  ['member.*', 'All changes to members'],
  ['invitation.*', 'All changes to invitations'],
  ['consumer.*', 'All changes to consumers'],
  ['customer.*', 'All changes to customers'],
  ['device.*', 'All changes to devices'],
  ['feature.*', 'All changes to features'],
  ['plan.*', 'All changes to plans'],
  ['grant.*', 'All changes to grants'],
  ['domain.*', 'All changes to domains'],
  ['sso*', 'All changes to single sign-on'],
  ['connection.*', 'All changes to connections'],
  ['event*', 'All replays'],
] as const

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
  const each = Object.entries(ACTIONS).map(([code, { did }]) => [code, did] as const)
  const chosen = (name: string) => query.get(name) ?? ''
  return (
    <search>
      <form class="search" method="get" action={action}>
        <KeptOrder order={asked.order} />
        <div class="filters audit-filters">
          <Choice name="actor_id" label="Who" of={asked} options={[['', 'Anyone'], ...actors]} />
          <Choice name="action" label="What" of={asked} options={[...KINDS, ...each]} />
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

type ChoiceProps = { name: string; label: string; of: AskedEntries; options: readonly (readonly [string, string])[] }

/** A list to choose from. It includes the value in the address, even if that is not one of the usual choices. */
function Choice({ name, label, of: { query, mistakes }, options }: ChoiceProps) {
  const value = query.get(name) ?? ''
  const all = options.some(([known]) => known === value) ? options : [...options, [value, value] as const]
  return (
    <Field name={name} label={label} mistakes={mistakes}>
      <Select name={name} value={value} options={all} />
    </Field>
  )
}
