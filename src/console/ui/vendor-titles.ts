import { VENDOR_NAMES } from '../../vendors'
import { capital } from './format'

/** Vendors whose brand name is not just their name with a capital letter. */
const TITLES: Record<string, string> = {
  gocardless: 'GoCardless',
  lemonsqueezy: 'Lemon Squeezy',
  revenuecat: 'RevenueCat',
  standard: 'Standard Webhooks',
}

/** A vendor's brand name. */
export function vendorTitle(name: string): string {
  return TITLES[name] ?? capital(name)
}

/** The vendors to choose from. */
export const VENDOR_OPTIONS = VENDOR_NAMES.map((name) => [name, vendorTitle(name)] as const)
