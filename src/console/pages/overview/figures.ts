import type { BillingDay } from '../../../billing/days/store'

/** Subscriptions in a status, and those whose customer waits for a consumer, as the last walk of a day found them. */
export const LEVELS = ['active', 'trialing', 'past_due', 'unlinked'] as const
/** What happened to subscriptions on a day. */
export const FLOWS = ['created', 'lost', 'failed'] as const
export type Level = (typeof LEVELS)[number]
export type Flow = (typeof FLOWS)[number]

/** Days of a line. */
export const SHOWN_DAYS = 30
/** Days over which numbers are compared: the first of these for which all days are known. */
const WINDOWS = [SHOWN_DAYS, 7]

/** A number, and how it compares with that of `days` before; null if that is not known. */
export type Figure = { value: number; change: { by: number; days: number } | null }

/** A day of a line. `row`: null if nobody has counted it. `open`: the day is not over, or what came after the last count is not known. */
export type Shown = { day: number; row: BillingDay | null; open: boolean }

/** @param rows the days of a project, the earliest first */
export function figuresOf(rows: readonly [BillingDay, ...BillingDay[]]) {
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const last = rows.at(-1) as BillingDay
  // The walks of the next day find what happened after the last one of this day.
  const isWhole = (day: number) => byDay.has(day) && byDay.has(day + 1)
  /** The sum of the days before one; null if one of them is not whole. */
  const sum = (name: Flow, until: number, days: number) => {
    const all = Array.from({ length: days }, (_, at) => until - days + at)
    return all.every(isWhole) ? all.reduce((total, day) => total + (byDay.get(day)?.[name] ?? 0), 0) : null
  }
  const window = windowOf((days) => sum('created', last.day, days) !== null)
  return {
    last,
    /** The days of the lines, from the first known one. */
    shown: shownOf(rows[0].day, last.day).map(
      (day): Shown => ({ day, row: byDay.get(day) ?? null, open: !isWhole(day) }),
    ),
    /** The whole days that are added up; 0 if there is none: then it is the last day, so far. */
    window,
    /** Null if this was not counted yet. */
    level: (name: Level): Figure | null => {
      const value = last[name]
      if (value === null) return null
      const before = (days: number) => byDay.get(last.day - days)?.[name] ?? null
      const days = WINDOWS.find((some) => before(some) !== null)
      return { value, change: days === undefined ? null : { by: value - (before(days) as number), days } }
    },
    flow: (name: Flow): Figure => {
      const value = window === 0 ? last[name] : (sum(name, last.day, window) as number)
      const before = WINDOWS.includes(window) ? sum(name, last.day - window, window) : null
      return { value, change: before === null ? null : { by: value - before, days: window } }
    },
  }
}

/** The longest time that can be compared with the one before it, else the longest known one. */
function windowOf(isKnown: (days: number) => boolean): number {
  const comparable = WINDOWS.find((days) => isKnown(2 * days))
  if (comparable !== undefined) return comparable
  let days = 0
  while (days < SHOWN_DAYS && isKnown(days + 1)) days++
  return days
}

function shownOf(first: number, last: number): number[] {
  const from = Math.max(first, last - SHOWN_DAYS + 1)
  return Array.from({ length: last - from + 1 }, (_, at) => from + at)
}
