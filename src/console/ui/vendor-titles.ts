import { VENDOR_NAMES, vendorOf } from '../../vendors'
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
export const VENDORS_WITH_STATE = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  VENDOR_NAMES.filter((name) => vendorOf(name)?.snapshots).map(vendorTitle),
)

/** Domains of the vendors that link to pages of their own. */
const DOMAINS = ['stripe.com', 'paddle.com']

/** Whether an address is a page of a vendor. What a vendor sends may name any other host, so whoever chose that could mislead. */
export function isOfVendor({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' && DOMAINS.some((name) => hostname === name || hostname.endsWith(`.${name}`))
}
