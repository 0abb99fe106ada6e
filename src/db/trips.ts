import { Fault } from '../lib/fault'
import { microBatchers, type WaitUntil } from '../lib/micro-batch'
import { SECOND } from '../lib/time'
import { within } from '../lib/within'

/** D1 that has not answered by then is taken as not answering: 503, and the caller tries again. */
const TIMEOUT_MS = 5 * SECOND

/** A unique key, CHECK or NOT NULL that refused a write. Its message names the constraint, never a value. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
}

type Statements = readonly D1PreparedStatement[]
type Results = readonly D1Result[]

/*
 * What requests of one isolate send together. A trip costs several times what a statement does, in D1 as in the Worker:
 * held against a trip a request, twice the events are so taken in and three times the requests authenticated
 * (bench/README.md, near limiter). Bounded, because everyone waits for all of it, and because an invocation may run a thousand statements.
 */
const READS = { most: 16, mostWeight: 16, waitMs: 2, answerMs: TIMEOUT_MS } // statements
const WRITES = { most: 8, mostWeight: 256 * 1024, waitMs: 5, answerMs: TIMEOUT_MS } // bytes
const LANES = { reads: microBatchers<Statements, Results>(READS), writes: microBatchers<Statements, Results>(WRITES) }
/** Where statements may share a trip with those of other requests. */
export type Lane = keyof typeof LANES

export type TripOptions = {
  /** Sees a trip that others share through, when its own request has ended. */
  waitUntil: WaitUntil
  /** Told of each trip made. One that another request made with these statements is told there. */
  onTrip: () => void
}

/**
 * Round trips to D1: statements as one transaction.
 *
 * @throws {ConstraintError} where a constraint refuses a write
 * @throws {Fault} `database_unavailable` where D1 fails or does not answer in time
 */
export function openTrips(d1: D1Database, { waitUntil, onTrip }: TripOptions) {
  async function trip(statements: Statements): Promise<D1Result[]> {
    onTrip()
    const [only] = statements
    return only && statements.length === 1 ? [await only.all()] : d1.batch([...statements])
  }
  const alone = (statements: Statements) => bounded(() => trip(statements), TIMEOUT_MS)

  /** @param weight of what shares a trip: statements of reads, bytes of writes */
  return async (statements: Statements, lane: Lane | null = null, weight = 1): Promise<Results> => {
    if (!lane) return alone(statements)
    let shared = true
    const together = async (parts: readonly Statements[]): Promise<Results[]> => {
      shared = parts.length > 1
      const results = await trip(parts.flat()) // bounded as a call of the lane
      return parts.map(({ length }) => results.splice(0, length))
    }
    try {
      return await LANES[lane](d1)(statements, weight, together, waitUntil)
    } catch (error) {
      const said = classified(error)
      if (said instanceof Fault || !shared) throw said
      return alone(statements) // refused, perhaps for another's statement: nothing has happened, so each goes alone
    }
  }
}

/** @throws {Fault} `database_unavailable` where the work fails or does not end in time */
export async function bounded<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  try {
    return await within(timeoutMs, work())
  } catch (error) {
    throw classified(error)
  }
}

/** SQLite's own words decide: a constraint, a mistake of ours (which stays what it is: a 500), or D1 not answering. */
export function classified(error: unknown): unknown {
  if (error instanceof Fault || error instanceof ConstraintError) return error
  const message = error instanceof Error ? error.message : String(error)
  if (/constraint failed|SQLITE_CONSTRAINT/.test(message)) return new ConstraintError(message, { cause: error })
  if (/SQLITE_(ERROR|MISMATCH|RANGE|MISUSE|TOOBIG)|D1_TYPE_ERROR/.test(message)) return error
  return new Fault('database_unavailable', 'The database did not answer. Try again in a few seconds.', { cause: error })
}
