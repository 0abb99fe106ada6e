/** The names of the presets: see presets.ts. */
export const PRESET_NAMES = [
  'cashfree',
  'coinbase',
  'github',
  'line',
  'linear',
  'modern-treasury',
  'mollie',
  'onfido',
  'razorpay',
  'sanity',
  'slack',
  'webflow',
  'workos',
] as const
export type PresetName = (typeof PRESET_NAMES)[number]

export const ALGORITHMS = ['sha256', 'sha512', 'sha1'] as const
export const ENCODINGS = ['hex', 'base64', 'base64url'] as const
export const UNITS = ['s', 'ms'] as const
/** The values of an event whose places a verification names. */
export const PLACES = ['id', 'type', 'time', 'livemode'] as const

type Optional<T> = T | null | undefined

/** How a connection of the vendor `hmac` verifies and reads its deliveries: see verification-fields.ts. */
export type Verification = {
  preset?: PresetName | undefined
  algorithm: (typeof ALGORITHMS)[number]
  confirm?: true | undefined
  header: string
  encoding: (typeof ENCODINGS)[number]
  prefix?: string | undefined
  pairs?: { time?: string | undefined; signature: string } | undefined
  time_header?: string | undefined
  unit: (typeof UNITS)[number]
  signed: string
  tolerance_s: number
  id?: Optional<string>
  type?: Optional<string>
  time?: Optional<string>
  livemode?: Optional<string>
}

/** The header that a place names, in lower case; null if it is in the body. */
export function headerOf(place: Optional<string>): string | null {
  return place?.startsWith('header:') ? place.slice('header:'.length).toLowerCase() : null
}
