import type { SignedVendor } from './signed'
import { APPLE } from './tables/apple'
import { BRAINTREE } from './tables/braintree'
import { CHARGEBEE } from './tables/chargebee'
import { LEMONSQUEEZY } from './tables/lemonsqueezy'
import type { Line } from './tables/line'
import { POLAR } from './tables/polar'
import { SHOPIFY } from './tables/shopify'
import { SQUARE } from './tables/square'

/** What each kind of event of a vendor says. */
export const TABLES: [SignedVendor, Line[]][] = [
  ['polar', POLAR],
  ['lemonsqueezy', LEMONSQUEEZY],
  ['chargebee', CHARGEBEE],
  ['square', SQUARE],
  ['shopify', SHOPIFY],
  ['braintree', BRAINTREE],
  ['apple', APPLE],
]
