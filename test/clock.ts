import { vi } from 'vitest'

/*
 * The clock that the Worker reads. Once stopped it stands still, however slow the machine, until a test moves it.
 * `Date` alone is held: timers run on. test/setup.ts starts the clock again after each test.
 */

/** Stops the clock. @param at what it shows (ms since the epoch); the present without it. @returns the same */
export function stopClock(at = Date.now()): number {
  vi.useFakeTimers({ toFake: ['Date'], now: at })
  return at
}

/** Sets the stopped clock. @param at ms since the epoch */
export function setClock(at: number): void {
  if (!vi.isFakeTimers()) throw new Error('stop the clock before you set it')
  vi.setSystemTime(at)
}

/** Moves the stopped clock forward by so many milliseconds. */
export function advance(ms: number): void {
  setClock(Date.now() + ms)
}

export function startClock(): void {
  vi.useRealTimers()
}

/** The time of the machine (ms since the epoch), whatever the stopped clock shows: what Miniflare's own parts go by. */
export function machineTime(): number {
  return vi.getRealSystemTime()
}
