import { env } from 'cloudflare:workers'

/** Which part of the cases of a property or of a test of volume a short run takes. */
const SHARE = 1 / 5
const { ALL_CASES } = env as unknown as { ALL_CASES: boolean }

/**
 * How many random cases a test takes. `npm test` takes a fifth, and `npm run test:all` takes all (`CASES=all`). A property that takes
 * less than half a second takes all of them always, and does not ask.
 *
 * @param all the number in a complete run
 */
export function cases(all: number): number {
  return ALL_CASES ? all : Math.ceil(all * SHARE)
}

/**
 * Those of a list's cases that one of many like tests takes. `npm test` takes one of them, each in its turn, and
 * `npm run test:all` takes all. For cases that the code treats alike whichever test meets them.
 *
 * @param nth which of the tests asks
 */
export function inTurn<T>(all: readonly T[], nth: number): readonly T[] {
  return ALL_CASES ? all : all.slice(nth % all.length).slice(0, 1)
}
