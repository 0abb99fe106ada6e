import type { DeliveryRow } from '../../../endpoints/deliveries'
import { LOG_DAYS } from '../../../endpoints/limits'
import type { KeptAttempt } from '../../../followers/schema'
import { can, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { Post } from '../../ui/controls'
import { duration } from '../../ui/format'
import { Dotted, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { ChangeLink, endpointPath, Outcome } from './parts'
import { SHOWN, type ShownEndpoint } from './read'

type Props = { c: Visit; of: ShownEndpoint }

/** What was sent to an endpoint and answered, the newest first. */
export function Attempts({ c, of: { attempts } }: Props) {
  const { now } = c.get('rt')
  const columns: Column<KeptAttempt>[] = [
    ['When', ({ at }) => <Time at={at} now={now} />],
    ['Type', ({ type }) => <Dotted>{type}</Dotted>],
    ['Change', ({ n }) => <ChangeLink c={c} number={n} />, 'number'],
    ['Attempt', (one) => one.try, 'number'],
    ['Result', ({ s, x }) => <Outcome status={s} error={x} />],
    ['Duration', ({ ms }) => duration(ms), 'number'],
    ['Response', ({ a }) => a !== '' && <Answer text={a} />],
  ]
  return (
    <>
      <h2 id="attempts">Attempts</h2>
      {attempts.length === 0 ? (
        <p class="quiet">Nothing was sent in the last {LOG_DAYS} days.</p>
      ) : (
        <Table label="Attempts" rows={attempts} columns={columns} class="audit" />
      )}
      {attempts.length === SHOWN && (
        <p class="quiet">
          These are the newest {SHOWN} attempts. Use the API to list all attempts from the last {LOG_DAYS} days.
        </p>
      )}
    </>
  )
}

/** What a foreign server has answered. Its text must not change the direction of what is around it. */
export function Answer({ text }: { text: string }) {
  return (
    <code>
      <bdi>{text}</bdi>
    </code>
  )
}

/** The changes that an endpoint has not taken: those that are sent again, and those that were given up. */
export function Deliveries({ c, of: { row, deliveries } }: Props) {
  const { now } = c.get('rt')
  const columns: Column<DeliveryRow>[] = [
    ['Change', ({ seq }) => <ChangeLink c={c} number={seq} />, 'number'],
    ['Type', ({ type }) => <Dotted>{type}</Dotted>],
    ['State', ({ state }) => <Badge of={state} />],
    ['Failed attempts', ({ tries }) => tries, 'number'],
    ['Last result', ({ status, error }) => <Outcome status={status} error={error} />],
    ['Next attempt', ({ due_at }) => <Time at={due_at} now={now} none="" />],
  ]
  const resend: Column<DeliveryRow> = [
    '',
    ({ seq }) => (
      <Post c={c} to={`${endpointPath(c, row.id)}/deliveries/${seq}/resend`} class="once">
        <button type="submit">
          Resend<span class="unseen"> change {seq}</span>
        </button>
      </Post>
    ),
  ]
  return (
    <>
      <h2 id="deliveries">Not delivered yet</h2>
      {deliveries.length === 0 ? (
        <p class="quiet">No change is waiting for a retry, and none has permanently failed.</p>
      ) : (
        <Table
          label="Not delivered yet"
          rows={deliveries}
          columns={can(c, 'webhooks:write') ? [...columns, resend] : columns}
          class="audit"
        />
      )}
      {deliveries.length === SHOWN && (
        <p class="quiet">These are the newest {SHOWN} changes. Use the API to list all of them.</p>
      )}
    </>
  )
}
