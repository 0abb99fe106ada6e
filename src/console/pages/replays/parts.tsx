import { openOf, type ReplayRow } from '../../../inbox/replay/replays'
import { pathsOf, type Visit } from '../../page'
import { TestBadge } from '../../ui/badge'
import { type Choice, filtersInWords } from '../events/filter-words'
import { firstInHtml } from '../events/payload-text'

/** What else is read to show replays. */
export type Beside = {
  /** Of the users and API keys that requested them, by id. */
  names: ReadonlyMap<string, string>
  connections: readonly Choice[]
}

/** Who requested a replay. */
export function By({ row, names }: { row: ReplayRow; names: Beside['names'] }) {
  return <>{names.get(row.actor) ?? <code>{row.actor}</code>}</>
}

/** Bytes of HTML for the filters of a replay in a list, so that fifty of them leave the page below 60 KB. */
const BRIEF = 150

type WhatProps = { c: Visit; row: ReplayRow; connections: Beside['connections']; brief?: boolean }

/** What a replay was asked for: one event, or the events that match its filters. @param brief whether to cut long ones */
export function ReplayWhat({ c, row, connections, brief }: WhatProps) {
  const { events } = pathsOf(c)
  if (row.event_id !== null) return <a href={`${events}/${row.event_id}`}>One event</a>
  const filters = filtersInWords(row.filter ?? {}, connections)
  const whole = filters.join('\n')
  const shown = firstInHtml(whole, BRIEF)
  return (
    <>
      <TestBadge of={modeOf(row, connections)} />
      <ReplayFilters of={brief && shown.length < whole.length ? `${shown}…`.split('\n') : filters} />
    </>
  )
}

/** The mode of a replay's events, if its filters name a mode, or connections of one mode; null if they do not. */
function modeOf({ filter }: ReplayRow, connections: Beside['connections']): boolean | null {
  if (typeof filter?.livemode === 'boolean') return filter.livemode
  const ids = [filter?.connection_id ?? []].flat()
  const [mode, ...others] = new Set(ids.map((id) => connections.find((one) => one.id === id)?.livemode))
  return others.length > 0 ? null : (mode ?? null)
}

/** The filters of a replay, one a line. */
export function ReplayFilters({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <>All events</>
  return (
    <ul class="changes">
      {of.map((words) => (
        <li>{words}</li>
      ))}
    </ul>
  )
}

/** The progress of a replay, as a bar and in words. */
export function Bar({ row }: { row: ReplayRow }) {
  const open = openOf(row)
  if (open === null) return <span class="quiet">Not counted</span>
  const done = row.queued - open
  const words = `${done.toLocaleString('en')} of ${row.queued.toLocaleString('en')}`
  return (
    <span class="progress">
      <progress max={Math.max(1, row.queued)} value={row.queued === 0 ? 1 : done} aria-label={`Done: ${words}`} />
      <span>{words}</span>
    </span>
  )
}

type CountProps = { c: Visit; row: ReplayRow; status: 'processed' | 'ignored' | 'failed' }

/** How many events of a replay ended in a status, with a link to them. */
export function Count({ c, row, status }: CountProps) {
  const n = row[status]
  if (n === null) return <>–</>
  if (n === 0) return <>0</>
  return (
    <a class={status === 'failed' ? 'error' : undefined} href={eventsOf(c, row, status)}>
      {n.toLocaleString('en')}
    </a>
  )
}

/** The list of a replay's events, with a status if one is given. */
export function eventsOf(c: Visit, { id }: ReplayRow, status?: string): string {
  return `${pathsOf(c).events}?${new URLSearchParams({ replay_id: id, ...(status && { status }) })}`
}
