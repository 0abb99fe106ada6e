import { capital } from './format'

/** What to do about each cause of refusal. */
const ADVICE: Record<string, string> = {
  connection_disabled: 'The connection is disabled. Enable it to accept deliveries again.',
  signature_missing:
    'The deliveries have no signature header. Check that the vendor sends them, and that signing is turned on there.',
  signature_malformed:
    'The signature header is not in this vendor’s format. Check that the connection has the right vendor, and that no proxy changes headers.',
  signature_mismatch:
    'No signing secret of the connection matches. Copy the secret of this endpoint from the vendor again, and add it. The secret of another endpoint, or of the other mode (test or live), does not match.',
  signature_timestamp:
    'The deliveries were signed too long ago, or in the future. Check the clock of the sender, and that nothing delays the deliveries on their way.',
}

/** Why deliveries were refused, in few words. */
const WORDS: Record<string, string> = {
  connection_disabled: 'the connection is disabled',
  signature_missing: 'no signature',
  signature_malformed: 'the signature is not in the vendor’s format',
  signature_mismatch: 'the signature matches no signing secret',
  signature_timestamp: 'signed too long ago, or in the future',
}

/** Why deliveries were refused, in words that have the code of the cause as a title. A cause that is unknown here is shown by its code. */
export function RefusedFor({ cause }: { cause: string }) {
  const words = WORDS[cause]
  return words === undefined ? <code>{cause}</code> : <span title={cause}>{words}</span>
}

/** A cause of refusal in a column of causes. */
export function Cause({ of }: { of: string }) {
  return <span title={of}>{capital(WORDS[of] ?? of)}</span>
}

/** What to do about a cause of refusal. */
export function adviceOn(cause: string): string {
  return ADVICE[cause] ?? 'Look up the cause in the list of errors.'
}

/** How many deliveries were refused, for any cause. */
export function totalOf(refused: Record<string, number>): number {
  return Object.values(refused).reduce((sum, n) => sum + n, 0)
}
