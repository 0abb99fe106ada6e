import type { Runtime } from '../../env'
import { pooled } from '../../lib/pooled'
import { apart } from '../fetches/apart'
import { FAILED_WAIT_S } from '../fetches/limits'
import { checkWhenDue } from './check'
import { CHECKS_AT_ONCE, CHECKS_HANDED_ON_S, CHECKS_WITHIN } from './limits'
import type { EndpointMessage } from './message'

/**
 * Checks endpoints, a few at once. Those for which there is no time come again.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 */
export function checkEndpoints(rt: Runtime, messages: readonly EndpointMessage[]): Promise<(number | null)[]> {
  const until = Date.now() + CHECKS_WITHIN
  return pooled(CHECKS_AT_ONCE, messages, async ({ project_id, connection_id }) => {
    if (Date.now() >= until) return CHECKS_HANDED_ON_S
    const { failed } = await apart({ connection_id }, () => checkWhenDue(rt, { project_id, connection_id }))
    return failed ? FAILED_WAIT_S : null
  })
}
