import { expect, it } from 'vitest'
import { LEARNED_HOURS, LEAST_HOURS } from '../../../src/inbox/silence/limits'
import { afterHour, isSilent, nothingKnown, type Quiet, resumedAt } from '../../../src/inbox/silence/quiet'
import { cases } from '../../harness/cases'
import { type Business, KINDS, randomFrom, yearOf } from './year'

/** An hour in which a week begins. */
const MONDAY = 168 * 2900
const DAY = 24

/** What is known after these hours, and whether the connection was silent after each. */
function live(active: readonly boolean[], known: Quiet = nothingKnown(MONDAY)) {
  const silent: boolean[] = []
  let now = known
  for (const one of active) {
    now = afterHour(now, one)
    silent.push(isSilent(now))
  }
  return { now, silent }
}

const alarmsIn = (silent: readonly boolean[]) => silent.filter((is, hour) => is && !silent[hour - 1]).length

/** How often a connection is wrongly called silent in a year, and after how many hours a silence is noticed, half of the time. */
function simulate(business: Business, years: number) {
  const random = randomFrom(5)
  const noticed: number[] = []
  let alarms = 0
  for (let i = 0; i < years; i++) {
    const active = yearOf(business, random)
    alarms += alarmsIn(live(active).silent)
    const from = DAY * 90 + Math.floor(random() * DAY * 200)
    const { now } = live(active.slice(0, from))
    const { silent } = live(Array(14 * DAY).fill(false), now)
    noticed.push(silent.includes(true) ? silent.indexOf(true) + 1 : Number.POSITIVE_INFINITY)
  }
  noticed.sort((a, b) => a - b)
  return { alarms: alarms / years, median: noticed[years >> 1] ?? 0 }
}

/** Hours after which a silence must have been noticed, half of the time. */
const NOTICED: Record<keyof typeof KINDS, number> = {
  '3 a week': Number.POSITIVE_INFINITY,
  '20 a week': 7 * DAY,
  '20 a week, in office hours': 8 * DAY,
  '200 a week': 18,
  '200 a week, in office hours': 60,
  '3,000 a week': 7,
  'renewals on one day a month': Number.POSITIVE_INFINITY,
}

it.each(Object.entries(KINDS))('a simulated year with %s', (kind, business) => {
  const { alarms, median } = simulate(business, cases(150))
  console.log(`${kind}: ${alarms.toFixed(2)} false alarms a year; a silence is noticed after ${median} h (median)`)
  expect(alarms).toBeLessThanOrEqual(0.25)
  expect(median).toBeLessThanOrEqual(NOTICED[kind as keyof typeof KINDS])
})

it('says nothing until it has learned, and then after a few hours', () => {
  const always = (hours: number) => Array<boolean>(hours).fill(true)
  const never = (hours: number) => Array<boolean>(hours).fill(false)
  expect(live([...always(LEARNED_HOURS / 2), ...never(LEARNED_HOURS / 2)]).silent).not.toContain(true)
  // With eight weeks in each hour, a quiet one has the probability 1 / 9: seven of them are less than one in a million.
  const { now } = live(always(8 * 168))
  expect(live(never(7), now).silent).toEqual([false, false, false, false, false, false, true])
  expect(LEAST_HOURS).toBeLessThan(7)
  // A delivery ends it at once.
  expect(live([...never(7), true], now).silent.at(-1)).toBe(false)
  // The spell of seven hours is remembered: the next one must be half as long again.
  const again = live([...never(7), ...always(168)], now).now
  expect(live(never(11), again).silent.indexOf(true)).toBe(10)
  // A time that nobody looked at is no silence.
  const resumed = resumedAt(live(never(6), now).now, now.hour + 500)
  expect(live(never(6), resumed).silent).not.toContain(true)
})

it('remembers eight weeks, and no more', () => {
  const weekly = (weeks: number, active: boolean) => Array<boolean>(weeks * 168).fill(active)
  const busy = live(weekly(9, true)).now
  expect(busy.hours).toEqual(Array(168).fill('11111111'))
  const asleep = live(weekly(8, false), busy).now
  expect(asleep.hours).toEqual(Array(168).fill('00000000'))
  expect(asleep.gap).toBe(8 * 168)
  // The long spell counts for eight weeks after its end.
  const woken = live([true, ...weekly(7, true)], asleep).now
  expect(Math.max(...woken.longest)).toBe(8 * 168)
  expect(Math.max(...live(weekly(1, true), woken).now.longest)).toBe(0)
})
