import { DAY, isoDay } from '../../lib/time'
import { WEEK, WEEKS_KEPT } from './limits'

/** The first Monday before 1970. */
const FIRST = -3 * DAY

/** The week of a time (ms): Mondays (UTC) since the one before 1970. */
export function weekOf(ms: number): number {
  return Math.floor((ms - FIRST) / WEEK)
}

/** The Monday on which a week begins (YYYY-MM-DD). */
export function mondayOf(week: number): string {
  return isoDay(week * WEEK + FIRST)
}

/** The oldest week that is kept at a time (ms). */
export function oldestWeek(now: number): number {
  return weekOf(now) - WEEKS_KEPT + 1
}
