import type { Item } from './account.ts'

/*
 * Generated accounts of vendors, and keys for them: for tests, the benchmark of imports, and npm run demo.
 */

const letters = (length: number) => crypto.randomUUID().replaceAll('-', '').repeat(3).slice(0, length)

/** A restricted key of Stripe's that no account has. */
export const newStripeKey = (mode: 'live' | 'test' = 'live') => `rk_${mode}_51${letters(40)}`
/** An API key of Paddle's that no account has. */
export const newPaddleKey = (mode: 'live' | 'sdbx' = 'live') =>
  `pdl_${mode}_apikey_01${letters(24)}_${letters(22)}_${letters(3)}`

/** An organization access token of Polar's that no account has. */
export const newPolarKey = () => `polar_oat_${letters(43)}`
/** An API key of Lemon Squeezy's that no account has: a JSON Web Token. */
export const newLemonKey = () => `eyJ0eXAi.${letters(90)}.${letters(90)}`
/** An API key of Chargebee's that no account has. */
export const newChargebeeKey = (mode: 'live' | 'test' = 'live') => `${mode}_${letters(32)}`

/** A key of RevenueCat's that no account has, as it is entered: with the project's id. */
export const newRevenuecatKey = () => `proj${letters(8)}:sk_${letters(32)}`

/** An access token of GoCardless that no account has. */
export const newGocardlessKey = (mode: 'live' | 'sandbox' = 'live') => `${mode}_${letters(40)}`

/** Ids that grow with the number, as those of Paddle do. */
const padded = (n: number) => String(n).padStart(6, '0')

/** A generated account of Stripe: for each customer a subscription with items, an invoice, a payment method; a price of a product. */
export function stripeObjects(customers: number, created = 1_790_000_000): (Item & { id: string })[] {
  const product = { id: 'prod_1', object: 'product', name: 'Pro', active: true, created }
  const price = {
    id: 'price_1',
    object: 'price',
    product: 'prod_1',
    unit_amount: 900,
    currency: 'eur',
    active: true,
    created,
  }
  const each = Array.from({ length: customers }, (_, index) => stripeCustomer(index + 1, created))
  return [product, price, ...each.flat()]
}

function stripeCustomer(n: number, since: number): (Item & { id: string })[] {
  const [customer, subscription, payment_method] = [`cus_${padded(n)}`, `sub_${padded(n)}`, `pm_${padded(n)}`]
  const created = since + n
  const item = {
    id: `si_${padded(n)}`,
    object: 'subscription_item',
    price: { id: 'price_1', object: 'price' },
    quantity: 1,
  }
  const line = { id: `il_${padded(n)}`, object: 'line_item', amount: 900, currency: 'eur' }
  const settings = { default_payment_method: payment_method }
  const card = { brand: 'visa', last4: '4242', exp_month: 1, exp_year: 2030 }
  return [
    {
      id: customer,
      object: 'customer',
      created,
      livemode: true,
      email: `c${n}@acme.dev`,
      invoice_settings: settings,
      metadata: {},
    },
    { id: payment_method, object: 'payment_method', created, livemode: true, type: 'card', customer, card },
    {
      id: subscription,
      object: 'subscription',
      created,
      livemode: true,
      customer,
      status: n % 10 === 0 ? 'canceled' : 'active',
      items: [item],
      current_period_start: created,
      current_period_end: created + 2_592_000,
      metadata: {},
    },
    {
      id: `in_${padded(n)}`,
      object: 'invoice',
      created,
      livemode: true,
      customer,
      status: 'paid',
      total: 900,
      currency: 'eur',
      lines: [line],
      parent: { type: 'subscription_details', subscription_details: { subscription } },
    },
  ]
}

/** A generated account of Paddle: for each customer a subscription, a transaction and a payment method; a price of a product. */
export function paddleObjects(customers: number, since = Date.UTC(2026, 8, 1)): (Item & { id: string })[] {
  const created_at = new Date(since).toISOString()
  const product = { id: 'pro_1', name: 'Pro', status: 'active', created_at }
  const price = {
    id: 'pri_1',
    product_id: 'pro_1',
    status: 'active',
    unit_price: { amount: '900', currency_code: 'EUR' },
    unit_price_overrides: [],
    quantity: { minimum: 1, maximum: 100 },
    billing_cycle: { interval: 'month', frequency: 1 },
  }
  const each = Array.from({ length: customers }, (_, index) => {
    const n = padded(index + 1)
    const customer_id = `ctm_${n}`
    const subscription_id = `sub_${n}`
    const updated_at = new Date(since + index * 1000).toISOString()
    const items = [{ price, product, quantity: 1, status: 'active' }]
    const own = { customer_id, created_at, updated_at, currency_code: 'EUR', items }
    const period = { starts_at: created_at, ends_at: new Date(since + 2_592_000_000).toISOString() }
    const billing = {
      billing_cycle: { interval: 'month', frequency: 1 },
      current_billing_period: period,
      next_billed_at: period.ends_at,
      scheduled_change: null,
    }
    const totals = { subtotal: '900', tax: '0', discount: '0', total: '900', grand_total: '900', currency_code: 'EUR' }
    const details = { totals, tax_rates_used: [], line_items: [] }
    return [
      { id: customer_id, status: 'active', email: `c${n}@acme.dev`, created_at, updated_at },
      { id: subscription_id, status: 'active', ...own, ...billing },
      { id: `txn_${n}`, status: 'completed', subscription_id, ...own, payments: [], details },
      { id: `paymtd_${n}`, customer_id, type: 'card', card: { type: 'visa', last4: '4242' }, updated_at },
    ]
  })
  return [product, price, ...each.flat()]
}
