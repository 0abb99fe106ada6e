import type { Mistakes } from '../refusal'
import { Field } from './controls'

/** What a filter form was filled in with: the query of the address, and what is wrong with it. */
export type Filled = { query: URLSearchParams; mistakes: Mistakes }

/**
 * A text field of a filter form, filled in from the address. A time loses its `Z`, because the browser's field refuses
 * it.
 */
export function FilterField({
  of: { query, mistakes },
  name,
  label,
  type,
}: {
  of: Filled
  name: string
  label: string
  type?: 'number' | 'datetime-local'
}) {
  const text = query.get(name) ?? ''
  const value = type === 'datetime-local' ? text.slice(0, 19).replace('Z', '') : text
  return <Field name={name} label={label} {...(type && { type })} value={value} mistakes={mistakes} />
}

/** The options of the filter `livemode`. */
export const MODE_OPTIONS = [
  ['', 'Any'],
  ['true', 'Live'],
  ['false', 'Test'],
] as const

/** The buttons of a filter form. @param clear the address without filters; null if there are none to clear */
export function FilterActions({ clear }: { clear: string | null }) {
  return (
    <div class="field actions">
      <button type="submit">Apply filters</button>
      {clear !== null && (
        <a class="button" href={clear}>
          Clear
        </a>
      )}
    </div>
  )
}
