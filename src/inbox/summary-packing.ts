import { utf8 } from '../lib/crypto'
import { deflated, inflated } from './packing'

/*
 * How the long part of a summary is packed: deflated. Deflating alone saves too little, because that part is short: with a dictionary of
 * what changes consist of, the change of an event that makes a subscription has 20 % of its bytes, and 45 % without.
 */

/**
 * What changes often have, the most frequent last. Stored rows depend on each character: never change it. For a better one, add a second
 * one, and store in the summary which one it needs.
 */
const DICTIONARY = utf8(
  `"charge","dispute","refund","purchase":{"to":"payment_card":{"to":"unplaced"items_missing":{"to":true},"refunded_amount":{"to":0},"net_amount":{"to":"refunds":{"to":[{"id":"re_","amount":"paid_at":{"to":"20"parts":{"to":` +
    `"voided_at":{"to":"20"uncollectible_at":{"to":"20"receipt_number":{"to":"application_fee_percent":{"to":"schedule":{"to":"sub_sched_"pending_setup_intent":{"to":"seti_"paused_at":{"to":"20"pause_collection":{"to":{"behavior":"void","resumes_at":"20"}},"days_until_due":{"to":30},` +
    `"trial_start":{"to":"20"trial_end":{"to":"20"ended_at":{"to":"20"cancellation":{"personal":true},"cancel_at":{"to":"20"canceled_at":{"to":"20"next_billed_at":{"to":"20"scheduled_change":{"to":{"action":"cancel","effective_at":"20","resume_at":null}},"status":{"from":"active","to":"past_due"},"status":{"from":"active","to":"canceled"},"status":{"to":"trialing"},"status":{"from":"incomplete","to":"active"},"status":{"from":"open","to":"paid"},"status":{"from":"draft","to":"open"},` +
    `"discounts":{"to":[{"id":"di_","coupon":"","promotion_code":"promo_","percent_off":,"amount_off":null,"currency":null,"starts_at":"20","ends_at":null}]},"too_large":true},` +
    `"card":{"to":{"brand":"visa","last4":"4242","exp_month":12,"exp_year":20,"funding":"credit","country":"US","fingerprint":""}},"last4":{"to":""},"billing_details":{"personal":true},"type":{"to":"card"},"status":{"to":"attached"},` +
    `"email":{"personal":true},"name":{"personal":true},"phone":{"personal":true},"address":{"personal":true},"locale":{"to":"en"},"balance":{"to":0},"delinquent":{"to":false},"tax_exempt":{"to":"none"},` +
    `"customer_email":{"personal":true},"customer_name":{"personal":true},"customer_address":{"personal":true},"customer_tax_exempt":{"to":"none"},"customer_tax_ids":{"personal":true},"hosted_url":{"to":"https://invoice.stripe.com/i/acct_","pdf_url":{"to":"https://pay.stripe.com/invoice/acct_/pdf?s=ap"},"finalized_at":{"to":"20"attempt_count":{"to":1},"next_payment_attempt":{"to":"20"due_at":{"to":"20"payment_intent":{"to":"pi_"charge":{"to":"ch_` +
    `"lines":{"to":{"data":[{"id":"il_","description":"1 × ","price":"price_","product":"prod_","quantity":1,"amount":0,"discount_amount":0,"tax":0,"period_start":"20","period_end":"20","proration":false,"subscription_item":"si_"}],"has_more":false}},"billing_reason":{"to":"subscription_cycle"},` +
    `"number":{"to":"","description":{"to":"","subscription":{"to":"sub_"subtotal":{"to":0},"discount_amount":{"to":0},"tax":{"to":0},"total":{"to":0},"amount_due":{"to":0},"amount_paid":{"to":0},"amount_remaining":{"to":0},"starting_balance":{"to":0},"ending_balance":{"to":0},"pre_payment_credit_notes_amount":{"to":0},"post_payment_credit_notes_amount":{"to":0},"period_start":{"to":"20"period_end":{"to":"20` +
    `"items":{"to":[{"id":"si_","price":"price_","price_name":"","lookup_key":"","variant":null,"product":"prod_","quantity":1,"amount":0,"amount_decimal":null,"currency":"usd","interval":"month","interval_count":1,"usage_type":"licensed","current_period_start":"20","current_period_end":"20"}]},` +
    `"started_at":{"to":"20"billing_cycle_anchor":{"to":"20"cancel_at_period_end":{"to":false},"collection_method":{"to":"charge_automatically"},"discounts":{"to":[]},"latest_invoice":{"to":"in_"default_payment_method":{"to":"pm_` +
    `"currency":{"to":"EUR"},"currency":{"to":"USD"},"metadata":{"personal":true},"current_period_start":{"from":"2026-","to":"2026-"},"current_period_end":{"from":"2026-","to":"2026-"},"customer":{"to":"cus_"},"vendor_status":{"to":"active"},"status":{"to":"active"},"livemode":{"to":true},"created_at":{"to":"2026-01-01T00:00:00Z"},"updated_at":{"from":"2026-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z"}}`,
)

/** A part of a summary, as JSON, packed. */
export function packedPart(json: string): Uint8Array {
  return deflated(json, DICTIONARY)
}

/** @throws {Error} if this is not what {@link packedPart} makes */
export function unpackedPart(bytes: Uint8Array): string {
  return new TextDecoder().decode(inflated(bytes, DICTIONARY))
}
