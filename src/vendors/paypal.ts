import { at, isObject, type Json, objects, text } from './lib/json'
import { decimal } from './lib/money'
import { distinctIds, eventOf, parseObject, required, subjectOf } from './lib/read'
import { isoTime } from './lib/time'
import { PAYPAL_CERTIFICATES, PAYPAL_HEADERS, PAYPAL_TOLERANCE, verifyPaypal } from './paypal-verify'
import type { Vendor } from './vendor'

/**
 * PayPal. It signs with a key of its own, so there is no secret: a secret of the connection is the id of the webhook, which is signed too. Its
 * events become no billing state: see {@link verifyPaypal}, and the keys of PayPal's API, with which one could ask, all move money.
 * https://developer.paypal.com/api/rest/webhooks/rest/, https://developer.paypal.com/api/rest/webhooks/event-names/
 */
export const paypal: Vendor = {
  signatureHeaders: PAYPAL_HEADERS,
  keptHeaders: ['paypal-cert-url'],
  keyAddress: PAYPAL_CERTIFICATES,
  tolerance: PAYPAL_TOLERANCE,
  // The pattern of PayPal's reference. It leaves out WEBHOOK_ID, with which the simulator signs for everybody.
  checkSecret: (secret) =>
    /^[A-Za-z0-9]{8,50}$/.test(secret)
      ? null
      : 'a PayPal webhook ID has 8 to 50 letters and digits. The WEBHOOK_ID of the webhooks simulator is not one: anyone can send with it',
  verify: verifyPaypal,

  decode(body, headers) {
    const event = parseObject(body)
    const envelope = {
      vendor_event_id: required(event.id, 'id'),
      event_type: required(event.event_type, 'event_type'),
      occurred_at: isoTime(event.create_time),
    }
    const resource = subjectOf(event.resource, 'resource', envelope)
    const id = text(resource.id) ?? text(resource.dispute_id)
    const isSubscription = envelope.event_type.startsWith('BILLING.SUBSCRIPTION.')
    const subscription = isSubscription ? id : text(resource.billing_agreement_id)
    const customer = payerOf(resource)
    return [
      eventOf({
        ...envelope,
        livemode: livemodeOf(headers['paypal-cert-url']),
        api_version: text(event.resource_version),
        object: {
          type: text(event.resource_type),
          id,
          status: text(resource.status) ?? text(resource.state),
        },
        customer,
        subscription,
        amount: amountOf(resource),
        refs: distinctIds(
          id,
          subscription,
          customer,
          text(resource.plan_id),
          text(resource.custom_id) ?? text(resource.custom),
          text(resource.invoice_id) ?? text(resource.invoice_number),
          text(resource.parent_payment) ?? text(at(resource, 'supplementary_data', 'related_ids', 'order_id')),
          text(at(resource, 'disputed_transactions', 0, 'seller_transaction_id')) ?? text(resource.merchant_id),
        ),
        content: event,
      }),
    ]
  },
}

/** The id of the payer: of a subscription, of an order or payment, of an agreement of version 1, or of an account. */
function payerOf({ subscriber, payer, payer_id }: Json): string | null {
  return (
    text(at(subscriber, 'payer_id')) ??
    text(at(payer, 'payer_id')) ??
    text(at(payer, 'payer_info', 'payer_id')) ??
    text(payer_id)
  )
}

/** The amount of a resource: of a payment, an order with one unit, or a dispute. Version 1 names it `total` and `currency`. */
function amountOf({ amount, dispute_amount, purchase_units }: Json) {
  const [unit, ...more] = objects(purchase_units)
  const said = [amount, dispute_amount, more.length === 0 ? unit?.amount : null].find(isObject) ?? {}
  return decimal(said.value ?? said.total, said.currency_code ?? said.currency)
}

/** The sandbox has keys and webhooks of its own. The header is not signed, but the key is the one that was fetched from there. */
function livemodeOf(address: string | undefined): boolean | null {
  return address && PAYPAL_CERTIFICATES.test(address) ? !address.includes('.sandbox.') : null
}
