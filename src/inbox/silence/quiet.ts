import { LEARNED_HOURS, LEAST_HOURS, SURPRISE, TIMES_LONGEST, WEEK_HOURS, WEEKS } from './limits'

/** What is known about when a connection receives deliveries. Hours are counted from the epoch (UTC). */
export type Quiet = {
  /** The next hour to look at. */
  hour: number
  /** Hours that were looked at. */
  seen: number
  /** For each hour of the week, whether it had a delivery in the last {@link WEEKS} weeks: a `1` or `0` for each, the latest one last. */
  hours: readonly string[]
  /** The longest quiet spell that ended in each of the last {@link WEEKS} weeks (hours), at the number of the week modulo {@link WEEKS}. */
  longest: readonly number[]
  /** Quiet hours since the last delivery. */
  gap: number
  /** How surprising they are together: the sum of `-ln(1 - p)`, with p the probability of a delivery in each, in thousandths. */
  surprise: number
}

/** Nothing is known yet. @param hour the first one to look at */
export function nothingKnown(hour: number): Quiet {
  return { hour, seen: 0, hours: Array(WEEK_HOURS).fill(''), longest: Array(WEEKS).fill(0), gap: 0, surprise: 0 }
}

/** What is known after an hour. @param isActive whether it had a delivery */
export function afterHour(known: Quiet, isActive: boolean): Quiet {
  const { hour, seen, hours, longest, gap, surprise } = known
  const at = hour % WEEK_HOURS
  const week = Math.floor(hour / WEEK_HOURS) % WEEKS
  const before = hours[at] ?? ''
  const ones = before.replaceAll('0', '').length
  const spells = at === 0 ? longest.with(week, 0) : longest
  return {
    hour: hour + 1,
    seen: seen + 1,
    hours: hours.with(at, `${before}${Number(isActive)}`.slice(-WEEKS)),
    longest: isActive ? spells.with(week, Math.max(spells[week] ?? 0, gap)) : spells,
    gap: isActive ? 0 : gap + 1,
    // As if there had been one week more, without a delivery: so nothing is certain.
    surprise: isActive ? 0 : surprise - Math.round(1000 * Math.log(1 - ones / (before.length + 1))),
  }
}

/** What is known after a time that nobody looked at, such as that of a disabled connection: the quiet spell ends. */
export function resumedAt(known: Quiet, hour: number): Quiet {
  return { ...known, hour, gap: 0, surprise: 0 }
}

/** Whether a connection has been quiet for too long to be chance. */
export function isSilent({ seen, longest, gap, surprise }: Quiet): boolean {
  return (
    seen > LEARNED_HOURS && gap >= LEAST_HOURS && surprise >= SURPRISE && gap >= TIMES_LONGEST * Math.max(...longest)
  )
}
