import { eq, sql } from 'drizzle-orm'
import { type Database, run } from '../db/client'
import { type StateName, state } from './schema'

/** Notes a moment (ms) or a number under a name. */
export async function writeState(db: Database, name: StateName, value: number): Promise<void> {
  await run(db, db.insert(state).values({ name, value }).onConflictDoUpdate({ target: state.name, set: { value } }))
}

/** Adds to a number that is noted under a name. */
export async function addToState(db: Database, name: StateName, n: number): Promise<void> {
  const value = sql`${state.value} + ${n}`
  await run(db, db.insert(state).values({ name, value: n }).onConflictDoUpdate({ target: state.name, set: { value } }))
}

/** Reads what was noted under a name; no row where nothing was. */
export function readState(db: Database, name: StateName) {
  return db.select({ value: state.value }).from(state).where(eq(state.name, name))
}
