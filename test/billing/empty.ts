/* Fields that most objects of both vendors do not have: the API shows them as null. */

export const EMPTY_SUBSCRIPTION = {
  description: null,
  trial_start: null,
  cancellation: null,
  pause_collection: null,
  paused_at: null,
  days_until_due: null,
  discounts: null,
  latest_invoice: null,
  schedule: null,
  pending_setup_intent: null,
  application_fee_percent: null,
  trial_end: null,
  cancel_at: null,
  canceled_at: null,
  ended_at: null,
  scheduled_change: null,
}

/** What an invoice shows of money that came back: it is in another row. */
export const NO_MONEY_BACK = { refunded_amount: 0, refunds: [], disputes: [] }

export const EMPTY_INVOICE = {
  ...NO_MONEY_BACK,
  description: null,
  starting_balance: null,
  ending_balance: null,
  pre_payment_credit_notes_amount: null,
  post_payment_credit_notes_amount: null,
  discounts: null,
  finalized_at: null,
  due_at: null,
  paid_at: null,
  voided_at: null,
  uncollectible_at: null,
  charge: null,
  default_payment_method: null,
  receipt_number: null,
  pdf_url: null,
  customer_email: null,
  customer_name: null,
  customer_address: null,
  customer_tax_exempt: null,
  customer_tax_ids: null,
  due_date: null,
  next_payment_attempt: null,
}
