import { stripe } from './stripe'
import type { Vendor } from './vendor'

/** Every vendor, by the name a connection gives. Adding one is a file and a line here. */
export const VENDORS = { stripe } as const satisfies Record<string, Vendor>

export type VendorName = keyof typeof VENDORS
export const VENDOR_NAMES = Object.keys(VENDORS) as VendorName[]

/** @returns the vendor of a stored name; undefined for one that a later version knew */
export function vendorOf(name: string): Vendor | undefined {
  return Object.hasOwn(VENDORS, name) ? VENDORS[name as VendorName] : undefined
}
