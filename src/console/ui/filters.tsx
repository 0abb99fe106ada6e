import type { PropsWithChildren } from 'hono/jsx'
import type { Order } from '../../http/page'
import { changed } from '../list'
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

/** Keeps the order of a list when its filters are sent. */
export function KeptOrder({ order }: { order: Order | undefined }) {
  return order ? <input type="hidden" name="order" value={order} /> : null
}

/** What a filter can be set to, the address that does it, and whether it is in effect. */
export type FilterOption = { label: string; href: string; on: boolean }

/** A filter as a row of links. */
export function FilterChips({ label, options }: { label: string; options: readonly FilterOption[] }) {
  return (
    <nav class="chips" aria-label={label}>
      {options.map(({ label, href, on }) => (
        <a href={href} aria-current={on ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}

type MenuProps = PropsWithChildren<{ label: string; options: readonly FilterOption[] }>

/** A filter as a menu of links. @param props.children more items */
export function FilterMenu({ label, options, children }: MenuProps) {
  return (
    <details class="menu">
      <summary>
        <span class="cut">{label}</span>
      </summary>
      <ul>
        {options.map(({ label, href, on }) => (
          <li>
            <a href={href} aria-current={on ? 'true' : undefined}>
              {label}
            </a>
          </li>
        ))}
        {children}
      </ul>
    </details>
  )
}

/** A time span to choose: as the address names it, in words, and its length (ms). */
export type Span = readonly [name: string, label: string, length: number]

/** A filter by time: the parameter that has the name of a span, and those that have bounds. */
export type TimeFilter = { within: string; bounds: readonly string[]; spans: readonly Span[] }

/** A span in words: `last 7 days`. Undefined if there is none with this name. */
export const spanWord = (spans: readonly Span[], name: string | null) =>
  spans.find(([one]) => one === name)?.[1].toLowerCase()

type TimeProps = PropsWithChildren<{ label: string; of: TimeFilter; address: URLSearchParams }>

/** A filter by time as a menu of spans. @param props.children what sets other bounds */
export function TimeMenu({ label, of: { within, bounds, spans }, address, children }: TimeProps) {
  const chosen = address.get(within)
  const custom = bounds.some((name) => address.has(name))
  const none = Object.fromEntries([within, ...bounds].map((name) => [name, null]))
  const options = [
    { label: 'Any time', href: changed(address, none), on: chosen === null && !custom },
    ...spans.map(([name, label]) => ({
      label,
      href: changed(address, { ...none, [within]: name }),
      on: name === chosen,
    })),
  ]
  return (
    <FilterMenu label={`${label}: ${spanWord(spans, chosen) ?? (custom ? 'custom' : 'any time')}`} options={options}>
      {children}
    </FilterMenu>
  )
}

/** A filter that is in effect: its words, and the address without it. */
export type ActiveFilter = readonly [words: string, without: string]

/** The filters that are in effect, each with a link that removes it. @param props.clear whether a link removes all */
export function ActiveFilters({ of, clear }: { of: readonly ActiveFilter[]; clear: boolean }) {
  if (of.length === 0) return null
  return (
    <ul class="active" aria-label="Filters">
      {of.map(([words, without]) => (
        <li>
          <span class="cut">{words}</span>
          <a href={without} aria-label={`Remove the filter ${words}`}>
            ×
          </a>
        </li>
      ))}
      {clear && (
        <li class="plain">
          <a href="?">Clear all</a>
        </li>
      )}
    </ul>
  )
}
