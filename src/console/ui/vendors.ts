import { VENDOR_NAMES, vendorOf } from '../../vendors'
import { capital, sentence } from './format'

/** Vendors that write themselves otherwise than with one capital. */
const TITLES: Record<string, string> = {
  gocardless: 'GoCardless',
  lemonsqueezy: 'Lemon Squeezy',
  revenuecat: 'RevenueCat',
  standard: 'Standard Webhooks',
}

/** A vendor as it writes itself. */
export function vendorTitle(name: string): string {
  return TITLES[name] ?? capital(name)
}

/** Vendors to choose from. */
export const VENDOR_OPTIONS = VENDOR_NAMES.map((name) => [name, vendorTitle(name)] as const)

/** What the vendor calls its signing secret and how that looks: what is said of one that is none. */
export function secretHint(name: string): string {
  return sentence(vendorOf(name)?.checkSecret('') ?? '')
}
