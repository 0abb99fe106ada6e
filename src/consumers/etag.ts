import { Fault } from '../lib/fault'
import { MAX_IF_MATCH } from './limits'

/** The entity tag of a consumer at a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`
}

/**
 * Checks the header `If-Match` (RFC 9110 §13.1.1): a change applies only to the revision that the caller has read.
 *
 * @param sent undefined if the caller sent no such header
 * @throws {Fault} `precondition_failed`
 */
export function requireMatch(sent: string | undefined, revision: number): void {
  if (sent === undefined || sent.trim() === '*') return
  const tags = sent
    .slice(0, MAX_IF_MATCH)
    .split(',')
    .map((tag) => tag.trim())
  if (tags.includes(etagOf(revision))) return
  throw new Fault(
    'precondition_failed',
    'The consumer has another ETag than the one in If-Match. Read it again, and send its current ETag.',
  )
}
