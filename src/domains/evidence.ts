/** What the record of a domain looked like. `unreachable`: there was no answer that can be relied on. */
export const RECORD_STATUSES = ['found', 'missing', 'wrong', 'unreachable'] as const
export type RecordStatus = (typeof RECORD_STATUSES)[number]

/**
 * What one resolver said. `rcode`: the name of the DNS response code, or in one word why there was no usable answer.
 * `authenticated`: whether it has checked DNSSEC signatures.
 */
export type Seen = { name: string; rcode: string; authenticated: boolean; values: string[] }

/** What a check saw, as it is stored. */
export type Evidence = { status: RecordStatus; resolvers: Seen[] }
