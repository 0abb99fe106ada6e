import { at, chargebeeInvoice, type Fields, START } from './payloads-more'

/* Payloads about what is sold once, of vendors that send whole objects, as their documentation describes them. */

const DAY = 86_400

// Chargebee

/** A paid invoice of what was charged once. */
export const chargebeeSold = (fields: Fields = {}): Fields =>
  chargebeeInvoice({
    subscription_id: undefined,
    status: 'paid',
    paid_at: START,
    amount_paid: 2361,
    amount_due: 0,
    price_type: 'tax_exclusive',
    discounts: [{ amount: 100, entity_type: 'document_level_coupon', entity_id: 'cb_offer' }],
    sub_total: 2100,
    tax: 361,
    total: 2361,
    line_items: [chargebeeCharge({ discount_amount: 100, tax_amount: 361 })],
    ...fields,
  })
export const chargebeeCharge = (fields: Fields = {}): Fields => ({
  ...{ id: 'li_once', entity_id: 'cb_charge_1', entity_type: 'charge_item_price', description: 'Credits' },
  ...{ quantity: 3, unit_amount: 700, amount: 2100, tax_amount: 0, discount_amount: 0 },
  ...{ date_from: START, date_to: START },
  ...fields,
})
export const chargebeeNote = (fields: Fields = {}): Fields => ({
  ...{ id: 'cb_cn_1', object: 'credit_note', customer_id: 'cb_cus_1', reference_invoice_id: 'cb_inv_1' },
  ...{ type: 'refundable', status: 'refunded', reason_code: 'product_unsatisfactory', price_type: 'tax_exclusive' },
  ...{ total: 500, amount_refunded: 500, amount_allocated: 0, amount_available: 0, currency_code: 'USD' },
  ...{ line_items: [], date: START + DAY, updated_at: START + DAY, resource_version: (START + DAY) * 1000 },
  deleted: false,
  ...fields,
})
// Square

const usd = (amount: number) => ({ amount, currency: 'USD' })
export const squarePayment = (fields: Fields = {}): Fields => ({
  ...{ id: 'SQPAY1', status: 'COMPLETED', customer_id: 'SQCUS1', location_id: 'LOC1', order_id: 'SQORD1' },
  ...{ amount_money: usd(2000), tip_money: usd(361), total_money: usd(2361), source_type: 'CARD' },
  card_details: { status: 'CAPTURED', card: { id: 'ccof:1' }, card_payment_timeline: { captured_at: at(0) } },
  application_details: { square_product: 'ECOMMERCE_API', application_id: 'app' },
  ...{ reference_id: 'credits_100', note: 'Credits', receipt_number: 'SQP1', buyer_email_address: 'ada@example.com' },
  receipt_url: 'https://squareup.com/receipt/preview/SQPAY1',
  ...{ created_at: at(0, 3), updated_at: at(0, 3), version_token: 'token' },
  ...fields,
})
export const squareRefund = (fields: Fields = {}): Fields => ({
  ...{ id: 'SQPAY1_ref1', payment_id: 'SQPAY1', order_id: 'SQORD2', location_id: 'LOC1', status: 'COMPLETED' },
  ...{ amount_money: usd(500), reason: 'Too many', created_at: at(1, 3), updated_at: at(1, 3), version: 2 },
  ...fields,
})
export const squareDispute = (fields: Fields = {}): Fields => ({
  ...{ id: 'SQDIS1', disputed_payment: { payment_id: 'SQPAY1' }, state: 'EVIDENCE_REQUIRED', reason: 'FRAUD' },
  ...{ amount_money: usd(2361), created_at: at(2, 3), updated_at: at(2, 3), due_at: at(20, 3), version: 1 },
  ...fields,
})
// Shopify

let events = 0
/** An event, whose topic and times are in headers. */
export const shopifyEvent = (topic: string, body: Fields, triggered = at(0, 9)) => {
  events += 1
  return {
    headers: {
      'x-shopify-topic': topic,
      'x-shopify-event-id': `shopify-${events}`,
      'x-shopify-triggered-at': triggered,
      'x-shopify-api-version': '2026-10',
    },
    body,
  }
}
const inShop = (amount: string) => ({
  shop_money: { amount, currency_code: 'USD' },
  presentment_money: { amount: '9.99', currency_code: 'EUR' },
})
export const shopifyLine = (fields: Fields = {}): Fields => ({
  ...{ id: 8001, admin_graphql_api_id: 'gid://shopify/LineItem/8001', name: 'Credits - 100', title: 'Credits' },
  ...{ variant_id: 7001, product_id: 6001, quantity: 3, price: '7.00' },
  discount_allocations: [{ amount: '1.00', discount_application_index: 0 }],
  ...fields,
})
export const shopifyOrder = (fields: Fields = {}): Fields => ({
  id: 5001,
  admin_graphql_api_id: 'gid://shopify/Order/5001',
  name: '#1001',
  email: 'shopify@example.com',
  customer: { id: 4001, first_name: 'Ada', last_name: 'Example' },
  currency: 'USD',
  presentment_currency: 'EUR',
  financial_status: 'paid',
  fulfillment_status: null,
  cancelled_at: null,
  source_name: 'web',
  subtotal_price: '20.00',
  total_discounts: '1.00',
  total_tax: '3.61',
  total_price: '23.61',
  taxes_included: false,
  note_attributes: [{ name: 'consumer_external_id', value: 'user_shopify' }],
  order_status_url: 'https://shop.example.com/1/orders/5001/authenticate?key=abc',
  line_items: [shopifyLine()],
  refunds: [],
  test: false,
  created_at: at(0),
  processed_at: at(0),
  updated_at: at(0),
  ...fields,
})
export const shopifyRefund = (fields: Fields = {}): Fields => ({
  id: 9001,
  admin_graphql_api_id: 'gid://shopify/Refund/9001',
  order_id: 5001,
  note: 'One too many',
  created_at: at(1),
  processed_at: at(1),
  refund_line_items: [
    { id: 1, line_item_id: 8001, quantity: 1, restock_type: 'return', subtotal: 6.67, subtotal_set: inShop('6.67') },
  ],
  transactions: [{ id: 2, kind: 'refund', status: 'success', amount: '7.87', currency: 'USD', test: false }],
  ...fields,
})
export const shopifyDispute = (fields: Fields = {}): Fields => ({
  ...{ id: 3001, order_id: 5001, type: 'chargeback', amount: '23.61', currency: 'USD', reason: 'fraudulent' },
  ...{ network_reason_code: '4837', status: 'needs_response', evidence_due_by: at(20), evidence_sent_on: null },
  ...{ finalized_on: null, initiated_at: at(2) },
  ...fields,
})
