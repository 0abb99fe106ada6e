import { SHOWN_STATUSES } from '../../../inbox/lifecycle'
import { changed } from '../../list'
import { type ActiveFilter, ActiveFilters, FilterMenu, TimeMenu } from '../../ui/filters'
import { type Choice, chosenWord, nameOf, wordsOf } from './filter-words'
import { type AskedEvents, RECEIVED } from './search-query'
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
  const chosen = address.get('connection_id')
  const link = (label: string, id: string | null) => ({
    label,
    href: changed(address, { connection_id: id }),
    on: id === chosen,
  })
  const custom = RECEIVED.bounds.some((name) => address.has(name))
  return (
    <>
      <FilterMenu
        label={`Connection: ${chosen === null ? 'any' : nameOf(chosen, connections)}`}
        options={[link('Any connection', null), ...connections.map(({ id, name }) => link(name, id))]}
      />
      <TimeMenu label="Received" of={RECEIVED} address={address}>
        <li>
          <a
            href={`${changed(address, { within: null, more: '1' })}#received_after`}
            aria-current={custom ? 'true' : undefined}
          >
            Custom…
          </a>
        </li>
      </TimeMenu>
    </>
  )
}

/** The filters that are in effect, each with a link that removes it. */
export function Chips({ asked, connections }: { asked: AskedEvents; connections: readonly Choice[] }) {
  const { address } = asked
  const ids = address.getAll('id')
  // The list says its mode by itself.
  const apart = ['status', 'livemode', 'id']
  const active = [...address].flatMap(([name, value]): ActiveFilter[] => {
    const others = address.getAll(name).filter((one) => one !== value)
    return apart.includes(name) ? [] : [[wordsOf(name, value, connections), changed(address, { [name]: others })]]
  })
  if (ids.length > 0) active.push([chosenWord(ids), changed(address, { id: [] })])
  return <ActiveFilters of={active} clear={active.length > 1 || address.has('status')} />
}
