import { beforeAll, describe, expect, it } from 'vitest'
import {
  anId,
  type Fields,
  paddleEventOf,
  paddleItem,
  paddlePayment,
  paddlePaymentMethod,
  paddleSubscription,
  paddleTotals,
  paddleTransaction,
} from './payloads'
import { expectShown } from './shows'
import { type BillingWorld, billingWorld, type List } from './world'

/* The fields of Paddle's entities that have everything. */

let world: BillingWorld
beforeAll(async () => {
  world = await billingWorld()
})

const shows = (list: List, event: object, id: unknown, expected: Fields) =>
  expectShown(world, { list, event, id }, expected)

describe("Paddle's entities", () => {
  it('a subscription', async () => {
    const billing_cycle = { interval: 'year', frequency: 2 }
    const price = {
      id: 'pri_1',
      name: 'Monthly',
      product_id: 'pro_1',
      unit_price: { amount: '3240', currency_code: 'USD' },
      billing_cycle,
    }
    const object = paddleSubscription({
      started_at: '2025-12-02T00:00:00.1Z',
      paused_at: '2025-12-03T00:00:00.1Z',
      custom_data: { plan: 'pro', seats: 5, trial: false, nested: { deep: [1] }, none: null },
      discount: { id: 'dsc_1', starts_at: '2025-12-02T00:00:00Z', ends_at: null },
      collection_mode: 'manual',
      billing_details: { payment_terms: { interval: 'week', frequency: 2 } },
      items: [
        paddleItem({
          price,
          previously_billed_at: '2025-12-02T00:00:00.1Z',
          next_billed_at: '2027-12-02T00:00:00.1Z',
          trial_dates: { starts_at: '2025-11-02T00:00:00Z', ends_at: '2025-12-02T00:00:00Z' },
        }),
      ],
    })
    await shows('subscriptions', paddleEventOf('subscription.updated', object), object.id, {
      created_at: '2025-12-01T00:00:00.892822Z',
      started_at: '2025-12-02T00:00:00.1Z',
      paused_at: '2025-12-03T00:00:00.1Z',
      trial_start: '2025-11-02T00:00:00Z',
      next_billed_at: '2026-02-01T00:00:00.449123Z',
      metadata: { plan: 'pro', seats: 5, trial: false, nested: '{"deep":[1]}' },
      discounts: [expect.objectContaining({ id: 'dsc_1', starts_at: '2025-12-02T00:00:00Z', ends_at: null })],
      collection_method: 'send_invoice',
      days_until_due: 14,
      items: [
        expect.objectContaining({
          price: 'pri_1',
          price_name: 'Monthly',
          lookup_key: null,
          variant: null,
          amount: 3240,
          currency: 'USD',
          interval: 'year',
          interval_count: 2,
          current_period_start: '2025-12-02T00:00:00.1Z',
          current_period_end: '2027-12-02T00:00:00.1Z',
        }),
      ],
    })
  })

  it('a transaction', async () => {
    const line = {
      id: 'txnitm_1',
      price_id: 'pri_1',
      quantity: 2,
      product: { id: 'pro_1', name: 'Chat' },
      totals: { subtotal: '3240', discount: '240', tax: '400', total: '3400' },
      proration: null,
    }
    const object = paddleTransaction({
      status: 'completed',
      billed_at: '2026-01-01T00:00:01.5Z',
      collection_mode: 'automatic',
      custom_data: { order: '7' },
      discount_id: 'dsc_1',
      checkout: { url: 'https://pay.example.com/?_ptxn=txn_1' },
      details: { totals: paddleTotals({ discount: '240', balance: '0' }), line_items: [line] },
      payments: [
        paddlePayment('paymtd_1', {}, { captured_at: '2026-01-01T00:00:02.9Z' }),
        paddlePayment('paymtd_1', {}, { captured_at: '2026-01-01T00:00:02.95Z' }),
      ],
    })
    await shows('invoices', paddleEventOf('transaction.completed', object), object.id, {
      subtotal: 3240,
      discount_amount: 240,
      tax: 400,
      amount_remaining: 0,
      attempt_count: 2,
      billing_reason: 'subscription_recurring',
      collection_method: 'charge_automatically',
      created_at: '2026-01-01T00:00:00.866909Z',
      finalized_at: '2026-01-01T00:00:01.5Z',
      paid_at: '2026-01-01T00:00:02.95Z',
      hosted_url: 'https://pay.example.com/?_ptxn=txn_1',
      discounts: [expect.objectContaining({ id: 'dsc_1' })],
      metadata: { order: '7' },
      lines: {
        data: [
          {
            id: 'txnitm_1',
            description: 'Chat',
            price: 'pri_1',
            product: 'pro_1',
            quantity: 2,
            amount: 3240,
            discount_amount: 240,
            tax: 400,
            period_start: '2026-01-01T00:00:00Z',
            period_end: '2026-02-01T00:00:00Z',
            proration: false,
            subscription_item: null,
          },
        ],
        has_more: false,
      },
    })
  })

  it('a payment method, with a card that is issued in South Korea', async () => {
    const id = anId('paymtd')
    const local = {
      method_details: {
        type: 'south_korea_local_card',
        card: null,
        south_korea_local_card: { type: 'shinhan', last4: '1111' },
      },
    }
    await world.deliver(
      paddleEventOf('transaction.completed', paddleTransaction({ payments: [paddlePayment(id, {}, local)] })),
    )
    const object = paddlePaymentMethod({ id, type: 'south_korea_local_card' })
    await shows('payment-methods', paddleEventOf('payment_method.saved', object), id, {
      created_at: object.saved_at,
      card: expect.objectContaining({ brand: 'shinhan', last4: '1111' }),
      last4: '1111',
      is_default: null,
    })
  })
})
