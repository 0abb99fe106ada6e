import type { Presented, ShownObjects } from '../../../billing/read/present'
import { isBack } from '../../../vendors/purchase'
import { pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { amountIn, asWords, timeOf, words } from '../../ui/format'
import { Id } from '../../ui/id'
import { ExactTime } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'

/** What came back of a payment. */
export type Returned = Pick<ShownObjects['purchase'], 'refunds' | 'disputes'>

/** A refund or a dispute, as a row of one table. */
type Movement = Pick<Returned['refunds'][number], 'id' | 'amount' | 'reason' | 'created_at' | 'event_id'> & {
  what: 'Refund' | 'Dispute'
  state: string
  /** What else is said of its state. */
  more: string | null
  /** Whether its amount counts as money back. */
  isBack: boolean
}

/** `typeOf`: the type of an event, if it is known. */
type Props = Returned & { c: Visit; object: Presented; typeOf: (event: string) => string | undefined }

/** The refunds and disputes of a payment in the order in which they began. Renders nothing without any. */
export function MoneyBack({ c, object, refunds, disputes, typeOf }: Props) {
  const { refunded_amount = null, currency = null } = object as Partial<ShownObjects['purchase']>
  const rows = movementsIn({ refunds, disputes })
  const known = rows.filter((row) => row.isBack).reduce((sum, { amount }) => sum + (amount ?? 0), 0)
  const rest = (refunded_amount ?? 0) - known
  if (rows.length === 0 && rest <= 0) return null
  const { events } = pathsOf(c)
  const { now } = c.get('rt')
  const columns: Column<Movement>[] = [
    [
      'What',
      ({ what, id }) => (
        <>
          {what} {id !== null && <Id>{id}</Id>}
        </>
      ),
    ],
    ['When', ({ created_at }) => created_at && <ExactTime at={timeOf(created_at)} now={now} />],
    ['Amount', ({ amount }) => amountIn('amount', amount, currency), 'number'],
    ['State', ({ state, more }) => <State of={state} more={more} />],
    ['Reason', ({ reason }) => reason && <span class="text">{asWords(reason)}</span>],
    ['Event', ({ event_id }) => <a href={`${events}/${event_id}`}>{typeOf(event_id) ?? event_id}</a>],
  ]
  return (
    <>
      <h2>Refunds and disputes</h2>
      {rows.length > 0 && <Table label="Refunds and disputes" rows={rows} columns={columns} />}
      {rest > 0 && (
        <p class="quiet">
          {amountIn('amount', rest, currency) ?? words(rest)} {rows.length > 0 && 'more '}was refunded according to the
          vendor, but we have received no event of the refund itself.
        </p>
      )}
    </>
  )
}

function movementsIn({ refunds, disputes }: Returned): Movement[] {
  const all: Movement[] = [
    ...refunds.map(({ status, revokes_access, ...refund }) => ({
      ...refund,
      what: 'Refund' as const,
      state: status,
      more: revokes_access && isBack(status) ? 'access revoked' : null,
      isBack: isBack(status),
    })),
    ...disputes.map(({ state, vendor_status, due_at, ...dispute }) => ({
      ...dispute,
      what: 'Dispute' as const,
      state,
      more:
        due_at !== null && (state === 'open' || state === 'inquiry') ? `evidence due ${words(due_at)}` : vendor_status,
      isBack: state === 'lost',
    })),
  ]
  const began = ({ created_at }: Movement) => timeOf(created_at) ?? 0
  return all.sort((a, b) => began(a) - began(b))
}

function State({ of, more }: { of: string; more: string | null }) {
  return (
    <>
      <Badge of={of} /> {more !== null && more !== of && <span class="quiet">{more}</span>}
    </>
  )
}
