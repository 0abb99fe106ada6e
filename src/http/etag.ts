import { sha256Hex } from '../lib/crypto'
import { Fault } from '../lib/fault'
import { MAX_IF_MATCH } from './limits'

/** The entity tag of an object at a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`
}

/** The entity tag of what is shown, where no revision counts its changes. */
export async function etagOfContents(contents: unknown): Promise<string> {
  return `"${(await sha256Hex(JSON.stringify(contents))).slice(0, 32)}"`
}

/** Whether the header `If-None-Match` has the entity tag (RFC 9110 §13.1.2), strong or weak. */
export function isUnchanged(sent: string | undefined, etag: string): boolean {
  if (sent === undefined) return false
  const tags = sent.slice(0, MAX_IF_MATCH).split(',')
  return sent.trim() === '*' || tags.some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

/**
 * The revisions that the header `If-Match` allows (RFC 9110 §13.1.1); null if it allows every one.
 *
 * @param sent undefined if the caller sent no such header
 */
export function revisionsIn(sent: string | undefined): number[] | null {
  if (sent === undefined || sent.trim() === '*') return null
  const tags = sent
    .slice(0, MAX_IF_MATCH)
    .split(',')
    .map((tag) => /^\s*"(\d{1,15})"\s*$/.exec(tag)?.[1])
  return tags.filter((tag) => tag !== undefined).map(Number)
}

/**
 * Checks the header `If-Match`: a change applies only to the revision that the caller has read.
 *
 * @param what the object, such as "consumer"
 * @throws {Fault} `precondition_failed`
 */
export function requireMatch(sent: string | undefined, revision: number, what: string): void {
  const allowed = revisionsIn(sent)
  if (allowed === null || allowed.includes(revision)) return
  throw mismatch(what)
}

/** As {@link requireMatch}, of an object with an entity tag of its {@link etagOfContents}. */
export function requireTag(sent: string | undefined, etag: string, what: string): void {
  if (sent === undefined || sent.trim() === '*') return
  const tags = sent.slice(0, MAX_IF_MATCH).split(',')
  if (!tags.some((tag) => tag.trim() === etag)) throw mismatch(what)
}

function mismatch(what: string): Fault {
  return new Fault(
    'precondition_failed',
    `The ${what} has another ETag than the one in If-Match. Read it again, and send its current ETag.`,
  )
}
