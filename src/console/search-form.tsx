import { STATUSES } from '../lib/statuses'
import { type SearchFields, SearchQuery } from '../webhooks/search/filters'
import { VENDOR_NAMES } from '../webhooks/vendors'
import { type Mistakes, mistakesOf, parse } from './page'
import { Field, Select } from './parts'

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
  const local = (name: string) =>
    text(name)
      .replace(/(\.\d+)?Z$/, '')
      .slice(0, 19)
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
          <Field name="ref" label="Object id" value={text('ref')} mistakes={mistakes} />
          <Field name="error" label="Error contains" value={text('error')} mistakes={mistakes} />
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
            <Field name="vendor" label="Vendor" mistakes={mistakes}>
              <Select
                name="vendor"
                value={text('vendor')}
                options={[['', 'Any'], ...VENDOR_NAMES.map((name) => [name, name] as const)]}
              />
            </Field>
            <Field name="connection_id" label="Connection id" value={text('connection_id')} mistakes={mistakes} />
            <Field
              name="vendor_event_id"
              label="Vendor’s event id"
              value={text('vendor_event_id')}
              mistakes={mistakes}
            />
            <Field
              name="received_after"
              label="Received from (UTC)"
              type="datetime-local"
              value={local('received_after')}
              mistakes={mistakes}
            />
            <Field
              name="received_before"
              label="Received before (UTC)"
              type="datetime-local"
              value={local('received_before')}
              mistakes={mistakes}
            />
            <Field
              name="min_attempts"
              label="Attempts, at least"
              type="number"
              value={text('min_attempts')}
              mistakes={mistakes}
            />
            <Field name="livemode" label="Mode" mistakes={mistakes}>
              <Select
                name="livemode"
                value={text('livemode')}
                options={[
                  ['', 'Any'],
                  ['true', 'Live'],
                  ['false', 'Test'],
                ]}
              />
            </Field>
            <Field name="order" label="Order" mistakes={mistakes}>
              <Select
                name="order"
                value={text('order')}
                options={[
                  ['', 'Newest first'],
                  ['asc', 'Oldest first'],
                ]}
              />
            </Field>
          </div>
        </details>
      </form>
    </search>
  )
}
