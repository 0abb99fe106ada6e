import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { consumers } from '../../consumers/schema'
import { type Db, raw } from '../../db/client'
import { MAX_SAME_ADDRESS } from './limits'

const m = alias(consumers, 'm')

/** Reads the consumers with an address, in any state: at most {@link MAX_SAME_ADDRESS}. @param email in lower case */
export function findByAddress(db: Db, projectId: string, email: string) {
  return raw(
    db,
    { id: m.id, state: m.state },
    (fields) => sql`SELECT ${fields} FROM ${consumers} ${m} INDEXED BY consumers_email
      WHERE ${m.project_id} = ${projectId} AND ${m.email} = ${email} LIMIT ${MAX_SAME_ADDRESS}`,
  )
}
