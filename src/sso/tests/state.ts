import type { SHOWN_TEST_STATES } from '../../identities/values'
import { TEST_TTL } from './limits'
import type { Test } from './tests-store'

/** The state of a test run now: one that waits has expired once no browser can come back to it. */
export function stateOf(
  { state, created_at }: Pick<Test, 'state' | 'created_at'>,
  now: number,
): (typeof SHOWN_TEST_STATES)[number] {
  return state === 'waiting' && created_at + TEST_TTL <= now ? 'expired' : state
}
