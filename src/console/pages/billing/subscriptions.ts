import type { ShownObjects } from '../../../billing/read/present'
import { SUBSCRIPTION_STATUSES } from '../../../vendors/objects'
import { priceOf, words } from '../../ui/format'
import type { ObjectList } from './object-list'

/** The number of a subscription's items that a row names. */
const ITEMS_SHOWN = 2

/** The list of subscriptions. To add a column, add a line to `columns`, and one to `file` for the CSV. */
export const subscriptions: ObjectList<'subscription'> = {
  kind: 'subscription',
  path: 'subscriptions',
  title: 'Subscriptions',
  statuses: SUBSCRIPTION_STATUSES,
  showsPlans: true,
  titleOf: ({ items, currency }, planOf) => itemsOf(items, currency, planOf) || null,
  first: (row) => ['trial_end', endOf(row)],
  columns: ({ id, status, customer, vendor, updated, time, planOf }) => [
    customer,
    ['Plan', (row) => itemsOf(row.items, row.currency, (item) => planOf(row, item)), 'wide'],
    status(),
    time('Renews or ends', (row) => row[endOf(row)[1]]),
    id,
    vendor,
    updated,
  ],
  file: [
    ['currency', ({ currency }) => currency],
    ['items', ({ items, currency }) => items.map((item) => priced(item, currency)).join(', ')],
    ['started_at', ({ started_at }) => started_at],
    ['trial_end', ({ trial_end }) => trial_end],
    ['current_period_end', ({ current_period_end }) => current_period_end],
    ['cancel_at_period_end', ({ cancel_at_period_end }) => cancel_at_period_end],
    ['canceled_at', ({ canceled_at }) => canceled_at],
    ['ended_at', ({ ended_at }) => ended_at],
  ],
}

/** Statuses in which nothing is renewed. */
const OVER: readonly string[] = ['canceled', 'incomplete_expired']

type Ending = 'current_period_end' | 'cancel_at' | 'canceled_at' | 'ended_at'

/**
 * The time at which a subscription ended, ends or else renews: what it is called, and its field. A vendor may not say when one that is over
 * ended.
 */
export function endOf(
  row: Pick<ShownObjects['subscription'], Exclude<Ending, 'current_period_end'> | 'cancel_at_period_end' | 'status'>,
): [label: string, name: Ending] {
  if (row.ended_at !== null) return ['Ended', 'ended_at']
  if (OVER.includes(row.status)) return ['Canceled', 'canceled_at']
  if (row.cancel_at !== null) return ['Ends', 'cancel_at']
  return [row.cancel_at_period_end ? 'Ends' : 'Renews', 'current_period_end']
}

type Items = ShownObjects['subscription']['items']

/** `2 × €19.00 / month`, or the price's id where the amount is not known. */
function priced(item: Items[number], currency: string | null): string {
  const price = priceOf(item, currency) ?? words(item.price)
  return item.quantity === null || item.quantity === 1 ? price : `${item.quantity} × ${price}`
}

/** The items as {@link priced}, each after the name of its plan: `Team: 2 × €19.00 / month`. */
function itemsOf(items: Items, currency: string | null, planOf: (item: Items[number]) => string | undefined): string {
  const named = items.slice(0, ITEMS_SHOWN).map((item) => {
    const plan = planOf(item)
    return plan === undefined ? priced(item, currency) : `${plan}: ${priced(item, currency)}`
  })
  return named.join(', ') + (items.length > ITEMS_SHOWN ? ` and ${items.length - ITEMS_SHOWN} more` : '')
}
