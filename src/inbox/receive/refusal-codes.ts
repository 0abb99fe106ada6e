/** Why a connection refuses a delivery: the codes that the vendor gets as the answer. */
export const REFUSED_WITH = [
  'connection_disabled',
  'signature_missing',
  'signature_malformed',
  'signature_mismatch',
  'signature_timestamp',
  'encryption_key_unavailable',
  'vendor_key_unavailable',
  'too_many_events',
  'unsupported_encoding',
] as const

/** What refused deliveries are counted and muted by. A secret can also be removed after a delivery was recorded, before it is processed. */
export const REFUSAL_CODES = [...REFUSED_WITH, 'secret_removed'] as const
