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
 * The cases that one of many similar tests takes. `npm test` gives each test some of them, in turn, and `npm run test:all` gives each
 * test all of them. Use it for cases that the code handles in the same way in every test.
 *
 * @param nth the position of the test among them
 * @param most how many cases a test takes
 */
export function inTurn<T>(all: readonly T[], nth: number, most = 1): readonly T[] {
  if (ALL_CASES || all.length <= most) return all
  const first = (nth * most) % all.length
  return [...all, ...all].slice(first, first + most)
}
