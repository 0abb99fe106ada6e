import type { EventRow } from '../../../inbox/events/events'
import type { CauseRow } from '../../../inbox/failures/failures'
import { NO_CODE } from '../../../inbox/mutes/schema'
import { eventAdvice } from '../../../vendors/event-errors'
import { pathsOf, type Visit } from '../../page'
import { vendorTitle } from '../../ui/vendor-titles'

type Named = Pick<CauseRow, 'connection_id' | 'last_error_code'>

/** Whether an event failed with a cause that a list can be filtered by. */
export const hasCause = ({ status, last_error_code }: EventRow) => status === 'failed' && last_error_code !== null

/** The events of a cause, as a query of the list. */
export function causeQuery({ connection_id, last_error_code }: Named): string {
  const code = last_error_code === null ? {} : { error_code: last_error_code }
  return new URLSearchParams({ status: 'failed', connection_id, ...code }).toString()
}

/** What the cause means, and whether a replay may succeed. */
export function adviceOnCause({ last_error_code, vendor }: Pick<CauseRow, 'last_error_code' | 'vendor'>) {
  return eventAdvice(last_error_code, vendorTitle(vendor))
}

/** The path of a cause, under which it is muted. */
export function causePath(c: Visit, { connection_id, last_error_code }: Named): string {
  return `${pathsOf(c).events}/failures/${connection_id}/${last_error_code ?? NO_CODE}`
}
