import { Fault } from '../lib/fault'
import { SECOND } from '../lib/time'
import { within } from '../lib/within'

/** If D1 has not answered by then, the caller gets a 503 and tries again. */
export const ANSWER_TIMEOUT_MS = 5 * SECOND

/** How long callers are told to wait while the database is full (s). It is long, because making room takes a while. */
const FULL_RETRY_AFTER_S = 300

/** How long to wait before a trip is retried (ms), ± half of it. */
const AGAIN_AFTER_MS = 100

/**
 * Errors that Cloudflare says to retry: https://developers.cloudflare.com/d1/observability/debug-d1/#error-list. Those of
 * an overloaded database are not among them, because another query makes it worse.
 */
const TRANSIENT = [
  'D1 DB reset because its code was updated',
  'Internal error while starting up D1 DB storage caused object to be reset',
  'Internal error in D1 DB storage caused object to be reset',
  'Cannot resolve D1 DB due to transient issue on remote node',
  'Network connection lost',
  "Can't read from request stream because client disconnected",
]
/** The words of D1, and of SQLite, for a database that has reached its size limit. */
const FULL = /Exceeded maximum (DB size|account storage)|SQLITE_FULL|database or disk is full/

/** A unique key, CHECK or NOT NULL that refused a write. Its message names the constraint, never a value. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
}

/** Does the work, and retries it once after a transient error. */
export async function onceMore<R>(attempt: () => Promise<R>): Promise<R> {
  try {
    return await attempt()
  } catch (error) {
    const message = messageOf(error)
    if (!TRANSIENT.some((words) => message.includes(words))) throw error
    await scheduler.wait(AGAIN_AFTER_MS * (0.5 + Math.random()))
    return attempt()
  }
}

/**
 * @throws {Fault} `database_unavailable` where the work fails or has not ended within so many milliseconds;
 *   `database_full`
 */
export async function answered<T>(ms: number, send: () => Promise<T>): Promise<T> {
  try {
    return await within(ms, send())
  } catch (error) {
    throw classified(error)
  }
}

/**
 * SQLite's own words decide: a constraint, no room left, a migration that was not applied, a bug of ours (which stays a
 * 500), or D1 not answering.
 */
function classified(error: unknown): unknown {
  if (error instanceof Fault || error instanceof ConstraintError) return error
  const message = messageOf(error)
  if (/constraint failed|SQLITE_CONSTRAINT/.test(message)) return new ConstraintError(message, { cause: error })
  if (FULL.test(message)) return full(error)
  // A missing column may also be a bug of ours; /healthz tells them apart.
  if (/no such table/.test(message)) return notMigrated(error)
  if (/SQLITE_(ERROR|MISMATCH|RANGE|MISUSE|TOOBIG)|D1_TYPE_ERROR/.test(message)) return error
  return new Fault('database_unavailable', 'The database did not answer. Try again in a few seconds.', { cause: error })
}

function full(cause: unknown): Fault {
  const detail = 'The database has no room for this. Try again later: the operator of the service must make room first.'
  return new Fault('database_full', detail, { cause, headers: { 'Retry-After': String(FULL_RETRY_AFTER_S) } })
}

/** For a database that the newest migration was not applied to. */
export function notMigrated(cause?: unknown): Fault {
  const detail = 'The operator must apply the migrations: npm run deploy does, and locally npm start.'
  return new Fault('not_migrated', detail, { cause })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
