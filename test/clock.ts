import { vi } from 'vitest'
import { MINUTE, SECOND } from '../src/lib/time'

/*
 * The clock that the Worker reads. Once stopped it stands still, however slow the machine, until a test moves it.
 * `Date` alone is held: timers run on. test/setup.ts starts a clock that a test stopped when the test ends, and one that
 * a `beforeAll` stopped when the file ends.
 */

/** Stops the clock. @param at what it shows (ms since the epoch); the present without it. @returns the same */
export function stopClock(at = Date.now()): number {
  vi.useFakeTimers({ toFake: ['Date'], now: at })
  return at
}

/** Sets the stopped clock. @param at ms since the epoch */
export function setClock(at: number): void {
  if (!isClockStopped()) throw new Error('stop the clock before you set it')
  vi.setSystemTime(at)
}

/** Moves the stopped clock forward by so many milliseconds. */
export function advance(ms: number): void {
  setClock(Date.now() + ms)
}

export function startClock(): void {
  vi.useRealTimers()
}

export function isClockStopped(): boolean {
  return vi.isFakeTimers()
}

/**
 * Stops the clock and timers: no time limit of the Worker runs out, however slow the machine. For tests that ask more of
 * it at once than a request may wait for.
 */
export function stopTimers(): void {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
}

/**
 * Makes timeouts of a second or more twenty times as long until the test ends, so that a busy machine does not run into them. For tests of
 * many requests to servers that all answer.
 */
export function bePatient(): void {
  if (vi.isMockFunction(globalThis.setTimeout)) return
  const real = globalThis.setTimeout
  const longer = (work: () => void, ms = 0) => real(work, ms < SECOND ? ms : 20 * ms)
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(longer as typeof setTimeout)
}

/**
 * Does the work within one window of the rate limiters. Miniflare's windows are the minutes of the machine's own clock,
 * whatever the stopped one shows: work that a new minute has cut in two is done again, so it has to count from nothing
 * each time.
 */
export async function inOneWindow<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    const window = machineMinute()
    const result = await work()
    if (machineMinute() === window) return result
  }
}

function machineMinute(): number {
  return Math.floor(vi.getRealSystemTime() / MINUTE)
}
