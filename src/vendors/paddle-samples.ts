import { hex, hmac, randomHex, utf8 } from '../lib/crypto'
import { DAY, iso, SECOND } from '../lib/time'
import type { Json } from './lib/json'
import { SAMPLE_CUSTOMER, SAMPLE_SEATS, type SampleOf, samplesOf } from './samples'

const { quantity, currency: currency_code } = SAMPLE_SEATS
const MONTH = { interval: 'month', frequency: 1 }
const PRODUCT = { id: 'pro_test_team', name: 'Team', type: 'standard', tax_category: 'saas', status: 'active' }

const subscribed = (change: (of: SampleOf) => Json) => (of: SampleOf) => ({ ...subscription(of), ...change(of) })

/**
 * Test events of Paddle Billing, with the fields that its entities always have.
 * https://developer.paddle.com/webhooks
 */
export const paddleSamples = samplesOf(
  {
    subscription_started: {
      type: 'subscription.created',
      object: subscribed(() => ({ transaction_id: transactionId() })),
    },
    subscription_past_due: { type: 'subscription.past_due', object: subscribed(() => ({ status: 'past_due' })) },
    subscription_ending: {
      type: 'subscription.updated',
      object: subscribed(({ now }) => ({
        next_billed_at: null,
        scheduled_change: { action: 'cancel', effective_at: periodFrom(now).ends_at, resume_at: null },
      })),
    },
    subscription_canceled: {
      type: 'subscription.canceled',
      object: subscribed(({ now }) => ({
        ...{ status: 'canceled', canceled_at: iso(now), next_billed_at: null, current_billing_period: null },
      })),
    },
    customer: {
      type: 'customer.created',
      object: ({ seed, since, now, metadata }) => ({
        ...{ id: `ctm_test_${seed}`, status: 'active', ...SAMPLE_CUSTOMER, locale: 'en', marketing_consent: false },
        ...{ custom_data: metadata, import_meta: null, created_at: iso(since), updated_at: iso(now) },
      }),
    },
    invoice_paid: { type: 'transaction.completed', object: transaction('completed') },
    invoice_failed: { type: 'transaction.payment_failed', object: transaction('past_due') },
  },
  {
    event: ({ id, type, now }, data) => ({
      ...{ event_id: id, event_type: type, occurred_at: iso(now), notification_id: `ntf_${randomHex(12)}` },
      data,
    }),
    async sign(body, secret, now) {
      const time = Math.floor(now / SECOND)
      const mac = await hmac('SHA-256', utf8(secret), `${time}:`, body)
      return { 'Paddle-Signature': `ts=${time};h1=${hex(mac)}` }
    },
  },
)

const transactionId = () => `txn_test_${randomHex(8)}`
const periodFrom = (now: number) => ({ starts_at: iso(now), ends_at: iso(now + 30 * DAY) })

function priceAt(since: number): Json {
  return {
    ...{ id: 'pri_test_team', product_id: PRODUCT.id, name: 'Team', description: 'Team, monthly', type: 'standard' },
    ...{ status: 'active', billing_cycle: MONTH, trial_period: null, tax_mode: 'account_setting', custom_data: null },
    ...{ unit_price: { amount: String(SAMPLE_SEATS.price), currency_code }, unit_price_overrides: [] },
    ...{ quantity: { minimum: 1, maximum: 100 }, import_meta: null, created_at: iso(since), updated_at: iso(since) },
  }
}

/** What subscriptions and transactions both have. */
function ofCustomer({ seed, now, metadata }: SampleOf): Json {
  return {
    ...{ customer_id: `ctm_test_${seed}`, address_id: `add_test_${seed}`, business_id: null, currency_code },
    ...{ collection_mode: 'automatic', billing_details: null, custom_data: metadata },
    ...{ created_at: iso(now), updated_at: iso(now) },
  }
}

function subscription(of: SampleOf): Json {
  const [since, at] = [iso(of.since), iso(of.now)]
  const period = periodFrom(of.now)
  const item = { status: 'active', quantity, recurring: true, trial_dates: null, created_at: since, updated_at: at }
  const billed = { previously_billed_at: at, next_billed_at: period.ends_at }
  return {
    ...{ id: `sub_test_${of.seed}`, status: 'active', ...ofCustomer(of), created_at: since },
    ...{
      started_at: since,
      first_billed_at: since,
      next_billed_at: period.ends_at,
      paused_at: null,
      canceled_at: null,
    },
    ...{ current_billing_period: period, billing_cycle: MONTH, scheduled_change: null, discount: null },
    ...{ import_meta: null, items: [{ ...item, ...billed, price: priceAt(of.since), product: productAt(of.since) }] },
  }
}

function productAt(since: number): Json {
  return { ...PRODUCT, description: null, image_url: null, custom_data: null, created_at: iso(since) }
}

function transaction(status: 'completed' | 'past_due') {
  const total = String(quantity * SAMPLE_SEATS.price)
  const unit = { subtotal: String(SAMPLE_SEATS.price), discount: '0', tax: '0', total: String(SAMPLE_SEATS.price) }
  const sum = { subtotal: total, discount: '0', tax: '0', total }
  const isPaid = status === 'completed'
  return (of: SampleOf): Json => {
    const at = iso(of.now)
    const line = { id: `txnitm_${randomHex(8)}`, price_id: 'pri_test_team', quantity, proration: null, tax_rate: '0' }
    const due = { credit: '0', credit_to_balance: '0', balance: isPaid ? '0' : total, grand_total: total }
    const ids = { payment_attempt_id: crypto.randomUUID(), stored_payment_method_id: crypto.randomUUID() }
    const payment = { ...ids, payment_method_id: null, amount: total, created_at: at }
    const attempt = isPaid
      ? { status: 'captured', error_code: null, captured_at: at }
      : { status: 'error', error_code: 'declined', captured_at: null }
    return {
      ...{ id: transactionId(), status, ...ofCustomer(of), subscription_id: `sub_test_${of.seed}` },
      ...{ origin: 'subscription_recurring', invoice_id: null, invoice_number: null, discount_id: null },
      ...{ billing_period: periodFrom(of.now), billed_at: at, revised_at: null, checkout: null },
      items: [{ price: priceAt(of.since), quantity, proration: null }],
      details: {
        ...{ tax_rates_used: [], adjusted_totals: null, payout_totals: null, adjusted_payout_totals: null },
        totals: { ...sum, ...due, grand_total_tax: '0', fee: null, earnings: null, currency_code },
        line_items: [{ ...line, unit_totals: unit, totals: sum, product: productAt(of.since) }],
      },
      payments: [{ ...payment, ...attempt, method_details: null }],
    }
  }
}
