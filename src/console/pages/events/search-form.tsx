import { STATUSES } from '../../../inbox/lifecycle'
import { type SearchFields, SearchQuery } from '../../../inbox/search/filters'
import { type Mistakes, mistakesOf, parse } from '../../page'
import { Field, Select } from '../../ui/parts'
import { VENDOR_OPTIONS } from '../../ui/vendors'

const LISTS = ['event_type', 'status'] as const
const TEXTS = [
  'ref',
  'vendor',
  'connection_id',
  'vendor_event_id',
  'received_after',
  'received_before',
  'min_attempts',
  'error',
  'livemode',
  'order',
] as const

/** A search as its address carries it. `fields` is null where something about it is wrong. */
export type Asked = { query: URLSearchParams; fields: SearchFields | null; mistakes: Mistakes }

/** The search in an address: what is empty is left out, times without a zone are UTC. */
export function readSearch(sent: URLSearchParams): Asked {
  const query = new URLSearchParams()
  for (const name of LISTS) {
    for (const one of sent.getAll(name).flatMap((text) => text.split(/[\s,]+/))) if (one !== '') query.append(name, one)
  }
  for (const name of TEXTS) {
    const text = sent.get(name)?.trim() ?? ''
    if (text !== '')
      query.set(name, /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? `${text.padEnd(19, ':00')}Z` : text)
  }
  const raw: Record<string, unknown> = Object.fromEntries(query)
  for (const name of LISTS) if (query.has(name)) raw[name] = query.getAll(name)
  try {
    return { query, fields: parse(SearchQuery, raw), mistakes: {} }
  } catch (error) {
    return { query, fields: null, mistakes: mistakesOf(error).mistakes }
  }
}

/** Everything the API searches by. It is a form that gets: the address is the search. */
export function SearchForm({ asked: { query, mistakes }, action }: { asked: Asked; action: string }) {
  const text = (name: string) => query.get(name) ?? ''
  const field = (name: string, label: string, type?: string) => {
    const value = type === 'datetime-local' ? text(name).slice(0, 19).replace('Z', '') : text(name)
    return <Field name={name} label={label} {...(type && { type })} value={value} mistakes={mistakes} />
  }
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[]) => (
    <Field name={name} label={label} mistakes={mistakes}>
      <Select name={name} value={text(name)} options={options} />
    </Field>
  )
  const more = TEXTS.slice(1).some((name) => query.has(name))
  return (
    <search>
      <form class="search" method="get" action={action}>
        <div class="filters">
          <Field
            name="event_type"
            label="Event type"
            value={query.getAll('event_type').join(', ')}
            mistakes={mistakes}
          />
          {field('ref', 'Object id')}
          {field('error', 'Error contains')}
          <div class="field actions">
            <button type="submit" class="primary">
              Search
            </button>
            {query.size > 0 && (
              <a class="button" href={action}>
                Clear
              </a>
            )}
          </div>
        </div>
        <fieldset>
          <legend class="unseen">Status</legend>
          <div class="checks">
            {STATUSES.map((status) => (
              <label>
                <input type="checkbox" name="status" value={status} checked={query.getAll('status').includes(status)} />{' '}
                {status}
              </label>
            ))}
          </div>
        </fieldset>
        <details open={more}>
          <summary>More filters</summary>
          <div class="filters">
            {choice('vendor', 'Vendor', [['', 'Any'], ...VENDOR_OPTIONS])}
            {field('connection_id', 'Connection id')}
            {field('vendor_event_id', 'Vendor’s event id')}
            {field('received_after', 'Received from (UTC)', 'datetime-local')}
            {field('received_before', 'Received before (UTC)', 'datetime-local')}
            {field('min_attempts', 'Attempts, at least', 'number')}
            {choice('livemode', 'Mode', [
              ['', 'Any'],
              ['true', 'Live'],
              ['false', 'Test'],
            ])}
            {choice('order', 'Order', [
              ['', 'Newest first'],
              ['asc', 'Oldest first'],
            ])}
          </div>
        </details>
      </form>
    </search>
  )
}
