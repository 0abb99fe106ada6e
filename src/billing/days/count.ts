import { DAY } from '../../lib/time'
import type { billingDays } from './schema'

/** What the walk reads of a subscription to count it. Times are as the vendor gives them; null if it does not. */
export type Countable = {
  project_id: string
  status: string
  livemode: boolean
  created_at: string | null
  ended_at: string | null
  past_due_since: string | null
  /** Whether its customer waits for a consumer. */
  is_unlinked: boolean
}

/** What is counted of the subscriptions of one project in one mode: their statuses now, and what happened today and yesterday. */
export type Sum = Pick<
  typeof billingDays.$inferSelect,
  'project_id' | 'livemode' | 'active' | 'trialing' | 'past_due'
> & {
  unlinked: number
  today: Happened
  yesterday: Happened
}
type Happened = Pick<typeof billingDays.$inferSelect, 'created' | 'lost' | 'failed'>

/** Statuses of subscriptions whose first payment is missing. */
const NOT_BEGUN = ['incomplete', 'incomplete_expired']

/**
 * Adds subscriptions to the sums of their projects.
 *
 * @param before the sums of the projects that the walk has come to, which stay as they are
 * @param today days since 1970
 */
export function addToSums(before: readonly Sum[], rows: readonly Countable[], today: number): Sum[] {
  const keyOf = ({ project_id, livemode }: Pick<Sum, 'project_id' | 'livemode'>) => `${project_id} ${livemode}`
  const sums = new Map(before.map((sum) => [keyOf(sum), structuredClone(sum)]))
  for (const row of rows) {
    const of = { project_id: row.project_id, livemode: Number(row.livemode) }
    const sum = sums.get(keyOf(of)) ?? emptySum(of)
    sums.set(keyOf(of), sum)
    if (row.status === 'active' || row.status === 'trialing' || row.status === 'past_due') {
      sum[row.status] += 1
      if (row.is_unlinked) sum.unlinked += 1
    }
    for (const [happened, day] of [
      [sum.today, dayText(today)] as const,
      [sum.yesterday, dayText(today - 1)] as const,
    ]) {
      const isThen = (time: string | null) => time?.startsWith(day) === true
      if (isThen(row.created_at) && !NOT_BEGUN.includes(row.status)) happened.created += 1
      if (isThen(row.ended_at) && row.status === 'canceled') happened.lost += 1
      if (isThen(row.past_due_since)) happened.failed += 1
    }
  }
  return [...sums.values()]
}

function emptySum(of: Pick<Sum, 'project_id' | 'livemode'>): Sum {
  const happened = () => ({ created: 0, lost: 0, failed: 0 })
  return { ...of, active: 0, trialing: 0, past_due: 0, unlinked: 0, today: happened(), yesterday: happened() }
}

/** A day as times begin: `2026-11-27`. */
export function dayText(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10)
}
