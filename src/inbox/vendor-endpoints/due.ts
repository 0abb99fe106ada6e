import { writeLog } from '../../http/log'
import { within } from '../../lib/within'
import { SEND_WITHIN_MS } from '../process/limits'
import type { EndpointMessage } from './message'

/** Sends the checks that are due. @param due what `takeDueChecks` found */
export async function sendDueChecks(
  queue: Queue<unknown>,
  due: readonly Omit<EndpointMessage, 'what'>[],
): Promise<void> {
  if (due.length === 0) return
  const messages = due.map((of) => ({
    body: { what: 'endpoint', ...of } satisfies EndpointMessage,
    contentType: 'json' as const,
  }))
  await within(SEND_WITHIN_MS, queue.sendBatch(messages))
  writeLog('info', 'endpoint_checks_sent', { checks: due.length })
}
