import type { Context } from 'hono'
import { batch, type Database, type Directory, type Queries, type Query, type Results, run } from '../db/client'
import { Fault } from '../lib/fault'
import { within } from '../lib/within'
import type { HttpEnv } from './context'
import { BESIDE_WITHIN_MS } from './limits'
import { writeLog } from './log'

/**
 * Sends the reads of a route. If the caller's credentials have not been read yet, their read comes first in the same
 * batch, and the results are returned only if it confirms the caller.
 *
 * @throws {Fault} 401, 403, 404 or `database_unavailable`
 */
export async function read<Q extends Queries>(c: Context<HttpEnv>, queries: Q): Promise<Results<Q>> {
  const { db } = c.get('rt')
  if (c.get('refused')) throw c.get('refused')
  const pending = c.get('pending')
  if (!pending) return batch(db, queries)
  if ('credential' in queries) throw new Error('a route may not name a statement "credential"')
  const answer = batch(db, { credential: pending.query, ...queries })
  await confirm(
    c,
    pending,
    answer.then(({ credential }) => credential),
  )
  const { credential: _, ...found } = await answer
  return found as unknown as Results<Q>
}

/**
 * Like {@link read}, with a statement of the directory in addition: one batch if the project's store is the directory,
 * otherwise two batches at the same time.
 *
 * @returns `beside`: null if the directory is another database and does not answer, so that keys keep working without
 *   it
 */
export async function readBeside<Q extends Queries, T>(
  c: Context<HttpEnv>,
  queries: Q,
  beside: (directory: Directory) => Query<T>,
): Promise<{ found: Results<Q>; beside: T | null }> {
  const { db, directory } = c.get('rt')
  if (isOne(db, directory)) {
    const { beside: result, ...found } = await read(c, { ...queries, beside: beside(directory) })
    return { found: found as unknown as Results<Q>, beside: result as T }
  }
  const [found, result] = await Promise.all([read(c, queries), ifAnswered(directory, beside(directory))])
  return { found, beside: result }
}

/**
 * Like {@link read}, for statements of the directory. If the caller's credentials are in another database, the two are
 * read at the same time.
 *
 * @throws {Fault} as {@link read}; `database_unavailable` also if only the directory does not answer
 */
export async function readDirectory<Q extends Queries>(c: Context<HttpEnv>, queries: Q): Promise<Results<Q>> {
  const { directory } = c.get('rt')
  if (c.get('refused')) throw c.get('refused')
  const pending = c.get('pending')
  if (!pending) return batch(directory, queries)
  if (isOne(pending.db, directory)) return read(c, queries)
  const [found] = await Promise.all([batch(directory, queries), settle(c)])
  return found
}

/** Asks a database for something that a response can do without. @returns null if it does not answer */
export function ifAnswered<T>(db: Database, query: Query<T>): Promise<T | null> {
  return besides(run(db, query))
}

/** What a response can do without, as it is being read. @returns null if the database does not answer */
export async function besides<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await within(BESIDE_WITHIN_MS, reading)
  } catch (error) {
    writeLog('warn', 'beside_not_read', { error: String(error) })
    return null
  }
}

/** Whether a project's store and the directory are one database. */
export function isOne(store: Database, directory: Database): boolean {
  return store.binding === directory.binding
}

/** Reads the caller's credentials if nothing has yet. @throws {Fault} as {@link read} */
export async function settle(c: Context<HttpEnv>): Promise<void> {
  if (c.get('refused')) throw c.get('refused')
  const pending = c.get('pending')
  if (pending) await confirm(c, pending, run(pending.db, pending.query))
}

/**
 * Has the database confirm the caller. Only then is nothing pending. A fault stays, whether the caller or the database
 * caused it: every further read of this request throws it again, even if the handler caught the first.
 */
async function confirm(
  c: Context<HttpEnv>,
  { uphold }: NonNullable<HttpEnv['Variables']['pending']>,
  credential: Promise<readonly unknown[]>,
): Promise<void> {
  try {
    await uphold(await credential)
  } catch (error) {
    if (error instanceof Fault) c.set('refused', error)
    throw error
  }
  c.set('pending', null)
}
