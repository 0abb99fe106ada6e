import { spanWord } from '../../ui/filters'
import { exact, plural, timeOf } from '../../ui/format'
import { vendorTitle } from '../../ui/vendor-titles'
import { SPANS } from './search-query'

/** A connection to choose. */
export type Choice = { id: string; name: string; livemode: boolean }

/** The name of a connection; its id if it was deleted. */
export const nameOf = (id: string, connections: readonly Choice[]) =>
  connections.find((one) => one.id === id)?.name ?? id

/** So many events that were chosen one by one. */
export const chosenWord = (ids: readonly string[]) => plural(ids.length, 'chosen event')

const LABELS: Record<string, string> = {
  event_type: 'Event type',
  status: 'Status',
  connection_id: 'Connection',
  within: 'Received',
  ref: 'Object ID',
  error: 'Error contains',
  error_code: 'Error code',
  vendor: 'Vendor',
  vendor_event_id: 'Vendor event ID',
  replay_id: 'Replay',
  received_after: 'Received since',
  received_before: 'Received before',
  min_attempts: 'Attempts, at least',
  livemode: 'Mode of the connection',
  source: 'Source',
  order: 'Order',
}

/** A filter in words. */
export function wordsOf(name: string, value: string, connections: readonly Choice[]): string {
  return `${LABELS[name] ?? name}: ${valueWord(name, value, connections)}`
}

/** The filters of a replay in words: one text each. None if it was for all events. */
export function filtersInWords(filter: Record<string, unknown>, connections: readonly Choice[]): string[] {
  const asked = Object.entries(filter).filter(
    ([name, value]) => value !== undefined && !(name === 'order' && value === 'desc'),
  )
  return asked.map(([name, values]) => {
    if (name === 'id') return chosenWord([values].flat().map(String))
    const words = [values].flat().map((value) => valueWord(name, String(value), connections))
    return `${LABELS[name] ?? name}: ${words.join(' or ')}`
  })
}

function valueWord(name: string, value: string, connections: readonly Choice[]): string {
  const at = name.startsWith('received_') ? timeOf(value) : null
  if (at !== null) return exact(at)
  if (name === 'connection_id') return nameOf(value, connections)
  if (name === 'vendor') return vendorTitle(value)
  if (name === 'within') return spanWord(SPANS, value) ?? 'any time'
  if (name === 'livemode') return value === 'true' ? 'live' : 'test'
  if (name === 'source') return value === 'fetch' ? 'fetched from the vendor' : 'delivered by the vendor'
  if (name === 'order') return 'oldest first'
  return value
}
