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
