import { isTaken } from '../../../endpoints/attempt'
import type { EndpointRow } from '../../../endpoints/endpoint'
import { pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'

/** The path of an endpoint's page. */
export function endpointPath(c: Visit, id: string): string {
  return `${pathsOf(c).endpoints}/${id}`
}

const REASONS: Record<NonNullable<EndpointRow['disabled_reason']>, string> = {
  requested: 'by a user or an API key',
  gone: 'it responded with 410',
  failing: 'all deliveries failed for five days',
}

/** The state of an endpoint, with the reason if it is disabled. */
export function EndpointState({ row: { state, disabled_reason } }: { row: EndpointRow }) {
  return (
    <>
      <Badge of={state} />
      {state === 'disabled' && disabled_reason && <span class="quiet line">{REASONS[disabled_reason]}</span>}
    </>
  )
}

/** What an endpoint gets, in few words. */
export const sentOf = ({ types, relay }: EndpointRow) => (relay ? 'Vendor events' : types.join(', '))

/** How many changes of the project come after the endpoint's position. */
export const behindOf = ({ head, position }: EndpointRow) => Math.max(0, head - position)

const ERRORS: Record<string, string> = {
  time: 'No response within 15 seconds',
  unreachable: 'Could not connect to the server',
  payload_gone: 'Not sent: the payload is no longer stored',
  slow: 'No response within a second. The next attempt waits longer',
}

/** What came of an attempt: a status, or why there was none. */
export function Outcome({ status, error }: { status: number | null; error: string | null }) {
  if (error !== null) return <span class="error">{ERRORS[error] ?? `The address is not allowed: ${error}`}</span>
  if (status === null) return null
  return <span class={isTaken(status) ? undefined : 'error'}>{status}</span>
}

/** A change by its number, which leads to it. Tests and `feed.gap` have none. */
export function ChangeLink({ c, number }: { c: Visit; number: number }) {
  return number === 0 ? null : <a href={`${pathsOf(c).changes}?number=${number}`}>{number}</a>
}
