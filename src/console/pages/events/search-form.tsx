import { STATUSES } from '../../../inbox/lifecycle'
import { Field, Select } from '../../ui/controls'
import { FilterActions, FilterField } from '../../ui/filters'
import { VENDOR_OPTIONS } from '../../ui/vendor-titles'
import { type Asked, TEXTS } from './search-query'

/** The search form, with all filters of the API. It uses GET, so the address contains the search. */
export function SearchForm({ asked, action }: { asked: Asked; action: string }) {
  const { query, mistakes } = asked
  const text = (name: string) => query.get(name) ?? ''
  const field = (name: string, label: string, type?: 'number' | 'datetime-local') => (
    <FilterField of={asked} name={name} label={label} {...(type && { type })} />
  )
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
          {field('ref', 'Object ID')}
          {field('error', 'Error contains')}
          <FilterActions verb="Search" clear={query.size > 0 ? action : null} />
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
            {field('connection_id', 'Connection ID')}
            {field('vendor_event_id', 'Vendor event ID')}
            {field('received_after', 'Received since (UTC)', 'datetime-local')}
            {field('received_before', 'Received before (UTC)', 'datetime-local')}
            {field('min_attempts', 'Minimum attempts', 'number')}
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
