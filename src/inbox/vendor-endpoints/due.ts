import { writeLog } from '../../http/log'
import { sendFetches } from '../fetches/send'
import type { EndpointMessage } from './message'

/** Sends the checks that are due. @param due what `takeDueChecks` found */
export async function sendDueChecks(
  queue: Queue<unknown>,
  due: readonly Omit<EndpointMessage, 'what'>[],
): Promise<void> {
  if (due.length === 0) return
  await sendFetches(
    queue,
    due.map((of): EndpointMessage => ({ what: 'endpoint', ...of })),
  )
  writeLog('info', 'endpoint_checks_sent', { checks: due.length })
}
