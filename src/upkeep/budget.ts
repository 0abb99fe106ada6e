import type { Db } from '../db/client'

/** What one run may spend on one database: statements, and a moment (ms) after which it begins nothing new. */
export type Budget = { statements: number; until: number }

/** Whether a run may send more statements to this database. */
export function hasRoom(db: Db, { statements, until }: Budget): boolean {
  return db.meter.statements < statements && Date.now() < until
}
