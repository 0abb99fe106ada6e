import { SHOWN_STATUSES } from '../../../inbox/lifecycle'
import { changed } from '../../list'
import { type Choice, chosenWord, nameOf, timeWord, wordsOf } from './filter-words'
import { type AskedEvents, SPANS } from './search-query'
import type { Counts } from './store'

/**
 * The statuses as links that add or remove one.
 *
 * @param counts null where they do not apply, because other filters narrow the list
 * @param how `changed` for the answer to a live update
 */
export function Statuses({ asked, counts, how }: { asked: AskedEvents; counts: Counts | null; how?: 'changed' }) {
  const { address } = asked
  const chosen = address.getAll('status')
  return (
    <nav id="statuses" class="chips" aria-label="Status" hx-swap-oob={how === 'changed' ? 'true' : undefined}>
      <a
        id="status-all"
        href={changed(address, { status: null })}
        aria-current={chosen.length === 0 ? 'true' : undefined}
      >
        All
      </a>
      {SHOWN_STATUSES.map((status) => {
        const on = chosen.includes(status)
        const others = chosen.filter((one) => one !== status)
        return (
          <a
            id={`status-${status}`}
            href={changed(address, { status: on ? others : [...chosen, status] })}
            aria-current={on ? 'true' : undefined}
            class={counts?.(status) === '0' ? 'none' : undefined}
          >
            <span>{status}</span>
            {counts && <span class="count"> {counts(status)}</span>}
          </a>
        )
      })}
    </nav>
  )
}

/** The connection and the time, as menus of links. */
export function Menus({ asked, connections }: { asked: AskedEvents; connections: readonly Choice[] }) {
  const { address } = asked
  const connection = address.get('connection_id')
  const within = address.get('within')
  const custom = address.has('received_after') || address.has('received_before')
  const link = (label: string, changes: Record<string, string | null>, on: boolean) => (
    <li>
      <a href={changed(address, changes)} aria-current={on ? 'true' : undefined}>
        {label}
      </a>
    </li>
  )
  const anyTime = { within: null, received_after: null, received_before: null }
  return (
    <>
      <details class="menu">
        <summary>
          <span class="cut">Connection: {connection === null ? 'any' : nameOf(connection, connections)}</span>
        </summary>
        <ul>
          {link('Any connection', { connection_id: null }, connection === null)}
          {connections.map(({ id, name }) => link(name, { connection_id: id }, id === connection))}
        </ul>
      </details>
      <details class="menu">
        <summary>
          <span class="cut">Received: {timeWord(within, custom)}</span>
        </summary>
        <ul>
          {link('Any time', anyTime, within === null && !custom)}
          {SPANS.map(([name, label]) => link(label, { ...anyTime, within: name }, within === name))}
          <li>
            <a
              href={`${changed(address, { within: null, more: '1' })}#received_after`}
              aria-current={custom ? 'true' : undefined}
            >
              Custom…
            </a>
          </li>
        </ul>
      </details>
    </>
  )
}

/** The filters that are in effect, each with a link that removes it. */
export function Chips({ asked, connections }: { asked: AskedEvents; connections: readonly Choice[] }) {
  const { address } = asked
  const ids = address.getAll('id')
  // The list says its mode by itself.
  const apart = ['status', 'livemode', 'id']
  const active = [...address].flatMap(([name, value]) => {
    const others = address.getAll(name).filter((one) => one !== value)
    return apart.includes(name) ? [] : [[wordsOf(name, value, connections), { [name]: others }] as const]
  })
  if (ids.length > 0) active.push([chosenWord(ids), { id: [] }])
  if (active.length === 0) return null
  return (
    <ul class="active" aria-label="Filters">
      {active.map(([words, without]) => (
        <li>
          <span class="cut">{words}</span>
          <a href={changed(address, without)} aria-label={`Remove the filter ${words}`}>
            ×
          </a>
        </li>
      ))}
      {(active.length > 1 || address.has('status')) && (
        <li class="plain">
          <a href="?">Clear all</a>
        </li>
      )}
    </ul>
  )
}
