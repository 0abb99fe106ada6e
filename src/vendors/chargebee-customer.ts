import { postalAddress, prose, upperCurrency, word } from './lib/bounded'
import { at, integer, isObject } from './lib/json'
import type { Made } from './snapshot'
import { blank, type From, fullName } from './whole'

/** https://apidocs.chargebee.com/docs/api/customers#customer_attributes */
export function customer({ object, common }: From): Made<'customer'> {
  const body = {
    ...blank('customer'),
    ...common,
    customer: null, // it is the customer
    status: object.deleted === true ? ('deleted' as const) : ('active' as const),
    email: word(object.email),
    name: prose(fullName(object.first_name, object.last_name) ?? object.company),
    phone: word(object.phone),
    address: addressOf(object.billing_address),
    locale: word(object.locale),
    currency: upperCurrency(object.preferred_currency_code),
    tax_exempt: object.taxability === 'taxable' ? 'none' : word(object.taxability),
    default_payment_method: word(object.primary_payment_source_id),
  }
  return { body, terminal: false }
}

/** https://apidocs.chargebee.com/docs/api/payment_sources#payment_source_attributes */
export function paymentSource({ object, common }: From): Made<'payment_method'> {
  const { card, bank_account: bank } = object
  const holder = isObject(card) ? card : bank
  const name = prose(fullName(at(holder, 'first_name'), at(holder, 'last_name')) ?? at(bank, 'name_on_account'))
  const body = {
    ...blank('payment_method'),
    ...common,
    status: object.deleted === true ? ('detached' as const) : ('attached' as const),
    type: word(object.type),
    card: isObject(card)
      ? {
          brand: word(card.brand),
          last4: word(card.last4),
          exp_month: integer(card.expiry_month),
          exp_year: integer(card.expiry_year),
          funding: word(card.funding_type),
          country: null,
          fingerprint: null,
        }
      : null,
    last4: word(at(card, 'last4')) ?? word(at(bank, 'last4')),
    bank: word(at(bank, 'bank_name')),
    wallet: word(at(object.paypal, 'email')),
    billing_details: name === null ? null : { name, email: null, phone: null, address: null },
  }
  return { body, terminal: false }
}

export function addressOf(value: unknown) {
  if (!isObject(value)) return null
  const { line1, line2, city, state, state_code, zip, country } = value
  return postalAddress({ line1, line2, city, state: state ?? state_code, postal_code: zip, country })
}
