import type { Runtime } from '../../env'
import { DAY, iso } from '../../lib/time'
import { PACKED_PERIOD_MS } from './limits'

type Now = Pick<Runtime, 'settings' | 'now'>

/** Events that were received before this time (ms) are archived once they are final. Null: this deployment archives none. */
export function archivedBefore({ settings: { archiveAfterDays }, now }: Now): number | null {
  if (archiveAfterDays === null) return null
  return Math.floor((now - archiveAfterDays * DAY) / PACKED_PERIOD_MS) * PACKED_PERIOD_MS
}

/** What a list of events says of those that it leaves out. */
export function beyond(rt: Now): { archived_before: string | null } {
  const before = archivedBefore(rt)
  return { archived_before: before === null ? null : iso(before) }
}
