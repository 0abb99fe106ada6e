import { VENDOR_NAMES } from '../../vendors'
import { capital } from './format'

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
