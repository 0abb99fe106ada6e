import type { ApiPattern } from './calls'
import type { Json } from './lib/json'

/** How a vendor lists the events of an account, including undelivered ones: facts and pure functions. */
export type PastEvents = {
  pattern: ApiPattern
  /** How long the vendor keeps events (days). */
  kept_days: number
  /** Events of a page, at most. */
  most: number
  /** Asks for the newest events of these types first. `from`, `until`: of which time (ms; `until` is exclusive), as far as the vendor can tell. */
  query: (page: {
    types: readonly string[]
    from: number
    until: number
    after: string | null
    limit: number
  }) => Readonly<Record<string, string>>
  /** The events of a page. Null if the body is no page. */
  page: (body: Json) => { objects: Json[]; more: boolean } | null
  /** The vendor's id of an event, which is also what the next page begins after. Null if it has none. */
  idOf: (event: Json) => string | null
  /** When the event happened (ms); null if it does not say. */
  timeOf: (event: Json) => number | null
}
