import { adyen } from './adyen'
import { apple } from './apple'
import { braintree } from './braintree'
import { chargebee } from './chargebee'
import { gocardless } from './gocardless'
import { hmac, hmacOf } from './hmac'
import { lemonsqueezy } from './lemonsqueezy'
import { paddle } from './paddle'
import { paypal } from './paypal'
import { polar } from './polar'
import { recurly } from './recurly'
import { revenuecat } from './revenuecat'
import { shopify } from './shopify'
import { square } from './square'
import { standard } from './standard'
import { stripe } from './stripe'
import type { Vendor } from './vendor'
import type { Verification } from './verification'

/** Every vendor, by the name that a connection gives. To add one, see vendor.ts. */
export const VENDORS = {
  adyen,
  apple,
  braintree,
  chargebee,
  gocardless,
  hmac,
  lemonsqueezy,
  paddle,
  paypal,
  polar,
  recurly,
  revenuecat,
  shopify,
  square,
  standard,
  stripe,
} as const satisfies Record<string, Vendor>

export type VendorName = keyof typeof VENDORS
export const VENDOR_NAMES = Object.keys(VENDORS) as VendorName[]

/** @returns the vendor with a stored name; undefined for a name that only another version of this service knows */
export function vendorOf(name: string): Vendor | undefined {
  return Object.hasOwn(VENDORS, name) ? VENDORS[name as VendorName] : undefined
}

/** The vendor of a connection, as the connection has set it up. */
export function vendorOfConnection(connection: {
  vendor: string
  verification: Verification | null
}): Vendor | undefined {
  const { vendor, verification } = connection
  return vendor === 'hmac' && verification ? hmacOf(verification) : vendorOf(vendor)
}
