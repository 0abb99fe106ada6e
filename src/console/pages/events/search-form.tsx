import { EVENT_ERROR_CODES } from '../../../vendors/event-errors'
import { Field, Select, Wrong } from '../../ui/controls'
import { FilterActions, FilterField, MODE_OPTIONS } from '../../ui/filters'
import { VENDOR_OPTIONS } from '../../ui/vendor-titles'
import { type AskedEvents, MORE } from './search-query'

/** Filters with fields under “More filters”: all except the filters with a place of their own on the page. */
const FIELDS: readonly string[] = ['event_type', ...MORE]

type FormProps = {
  asked: AskedEvents
  action: string
  /** What the search box holds. */
  text: string
  /** Event types to suggest. */
  types: readonly string[]
  /** Whether “More filters” is unfolded. */
  unfolded: boolean
}

/** One box for any id or event type, and the finer filters. It uses GET, so the address contains the search. */
export function SearchForm({ asked, action, text, types, unfolded }: FormProps) {
  const { address, mistakes } = asked
  const elsewhere = Object.keys(mistakes).filter((name) => !FIELDS.includes(name))
  const wrong = Object.keys(mistakes).length > 0
  return (
    <search>
      <form class="search" method="get" action={action}>
        {[...address].map(
          ([name, value]) => !FIELDS.includes(name) && <input type="hidden" name={name} value={value} />,
        )}
        <div class="finder">
          <label class="unseen" for="q">
            Find by ID or event type
          </label>
          <input
            id="q"
            name="q"
            type="search"
            value={text}
            list="types"
            maxlength={300}
            autocomplete="off"
            spellcheck={false}
            placeholder="Any ID (event, object, customer), or an event type such as invoice.*"
          />
          <datalist id="types">
            {types.map((type) => (
              <option value={type} />
            ))}
          </datalist>
          <button type="submit" class="primary">
            Search
          </button>
        </div>
        {elsewhere.map((name) => (
          <Wrong>
            {name}: {mistakes[name]}
          </Wrong>
        ))}
        <details open={wrong || unfolded}>
          <summary>More filters</summary>
          <More asked={asked} />
        </details>
      </form>
    </search>
  )
}

function More({ asked }: { asked: AskedEvents }) {
  const { address, mistakes } = asked
  const field = (name: string, label: string, type?: 'number' | 'datetime-local') => (
    <FilterField of={{ query: address, mistakes }} name={name} label={label} {...(type && { type })} />
  )
  const choice = (name: string, label: string, options: readonly (readonly [string, string])[]) => (
    <Field name={name} label={label} mistakes={mistakes}>
      <Select name={name} value={address.get(name) ?? ''} options={options} />
    </Field>
  )
  return (
    <div class="filters">
      <Field name="event_type" label="Event type" value={address.getAll('event_type').join(', ')} mistakes={mistakes} />
      {field('ref', 'Object ID')}
      {field('vendor_event_id', 'Vendor event ID')}
      {field('error', 'Error contains')}
      {choice('error_code', 'Error code', [['', 'Any'], ...EVENT_ERROR_CODES.map((code) => [code, code] as const)])}
      {choice('vendor', 'Vendor', [['', 'Any'], ...VENDOR_OPTIONS])}
      {choice('livemode', 'Mode of the connection', MODE_OPTIONS)}
      {choice('source', 'Source', [
        ['', 'Delivered by the vendor'],
        ['fetch', 'Fetched from the vendor'],
      ])}
      {field('received_after', 'Received since (UTC)', 'datetime-local')}
      {field('received_before', 'Received before (UTC)', 'datetime-local')}
      {field('min_attempts', 'Minimum attempts', 'number')}
      {field('replay_id', 'Replay ID')}
      {choice('order', 'Order', [
        ['', 'Newest first'],
        ['asc', 'Oldest first'],
      ])}
      <FilterActions clear={null} />
    </div>
  )
}
