import { VENDOR_NAMES, VENDORS, vendorOf } from '../../vendors'
import type { Vendor } from '../../vendors/vendor'
import { capital } from './format'

/** Vendors whose brand name is not just their name with a capital letter. */
const TITLES: Record<string, string> = {
  gocardless: 'GoCardless',
  hmac: 'HMAC sender',
  lemonsqueezy: 'Lemon Squeezy',
  paypal: 'PayPal',
  revenuecat: 'RevenueCat',
  standard: 'Standard Webhooks',
}

/** A vendor's brand name. */
export function vendorTitle(name: string): string {
  return TITLES[name] ?? capital(name)
}

/** The vendors to choose from. */
export const VENDOR_OPTIONS = VENDOR_NAMES.map((name) => [name, vendorTitle(name)] as const)

/** The vendors whose events change billing state, to choose from. */
export const STATE_OPTIONS = VENDOR_OPTIONS.filter(([name]) => vendorOf(name)?.snapshots)

/** The vendors whose events change billing state, in a sentence: "Paddle or Stripe". */
export const VENDORS_WITH_STATE = listed('disjunction', ({ snapshots }) => snapshots !== undefined)

/** The vendors of which there are test events, in a sentence: "Paddle and Stripe". */
export const VENDORS_WITH_SAMPLES = listed('conjunction', ({ samples }) => samples !== undefined)

function listed(type: 'conjunction' | 'disjunction', has: (vendor: Vendor) => boolean): string {
  return new Intl.ListFormat('en', { type }).format(VENDOR_NAMES.filter((name) => has(VENDORS[name])).map(vendorTitle))
}

/** Domains of the vendors that link to pages of their own. */
const DOMAINS = ['stripe.com', 'paddle.com']

/** Whether an address is a page of a vendor. What a vendor sends may name any other host, so whoever chose that could mislead. */
export function isOfVendor({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && DOMAINS.some((name) => hostname === name || hostname.endsWith(`.${name}`))
}
