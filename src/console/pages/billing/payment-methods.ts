import type { ShownObjects } from '../../../billing/read/present'
import { PAYMENT_METHOD_STATUSES } from '../../../vendors/objects'
import { asWords } from '../../ui/format'
import type { ObjectList } from './object-list'

/** The list of payment methods. To add a column, add a line to `columns`, and one to `file` for the CSV. */
export const paymentMethods: ObjectList<'payment_method'> = {
  kind: 'payment_method',
  path: 'payment-methods',
  title: 'Payment methods',
  statuses: PAYMENT_METHOD_STATUSES,
  showsPlans: false,
  titleOf: (row) => named(row) || null,
  first: () => [],
  columns: ({ id, status, customer, vendor, updated }) => [
    customer,
    ['Method', named, 'unbroken'],
    status(),
    ['Card expires', ({ card }) => (card?.exp_year ? `${card.exp_month ?? '?'}/${card.exp_year}` : '')],
    id,
    vendor,
    updated,
  ],
  file: [
    ['type', ({ type }) => type],
    ['brand', ({ card }) => card?.brand],
    ['last4', ({ last4 }) => last4],
    ['exp_month', ({ card }) => card?.exp_month],
    ['exp_year', ({ card }) => card?.exp_year],
    ['is_default', ({ is_default }) => is_default],
  ],
}

/** `Visa •••• 4242`. */
const named = ({ type, card, last4 }: ShownObjects['payment_method']) =>
  [methodOf(card?.brand ?? type), last4 && `•••• ${last4}`].filter(Boolean).join(' ')

/** The brand of a card, or another type of payment method, as a word: `Visa`, `SEPA debit`. */
const methodOf = (name: string | null) => name && asWords(name).replace(/\bsepa\b/i, 'SEPA')
