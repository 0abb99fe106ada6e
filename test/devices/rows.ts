import { sha256Hex } from '../../src/lib/crypto'
import { newId } from '../../src/lib/ids'
import { STORE } from '../harness'

type Fields = {
  id?: string
  token_hash?: string
  installation_id?: string
  state?: 'active' | 'revoked'
  last_seen_at?: number
}

/** A device of a consumer, written to the database. @returns its id, which is also its installation id by default */
export async function insertDevice(project: string, consumer: string, fields: Fields = {}): Promise<string> {
  const now = Date.now()
  const id = newId('dev', now)
  const row = { id, installation_id: id, state: 'active', last_seen_at: now, ...fields }
  await STORE.prepare(
    `INSERT INTO devices (project_id, token_hash, id, consumer_id, installation_id, platform, state, last_seen_at, created_at, revoked_at)
     VALUES (?1, ?2, ?3, ?4, ?5, 'ios', ?6, ?7, ?8, CASE WHEN ?6 = 'revoked' THEN ?8 END)`,
  )
    .bind(
      project,
      row.token_hash ?? (await sha256Hex(row.id)),
      row.id,
      consumer,
      row.installation_id,
      row.state,
      row.last_seen_at,
      now,
    )
    .run()
  return row.id
}

/** Many devices of a consumer at once, written to the database. The higher the number of one, the later it was made and seen. */
export async function insertDevices(project: string, consumer: string, state: 'active' | 'revoked', n: number) {
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?4)
     INSERT INTO devices (project_id, token_hash, id, consumer_id, installation_id, platform, state, last_seen_at, created_at, revoked_at)
     SELECT ?1, ?2 || ?3 || v, printf('dev_00%s%023d', substr(?3, 1, 1), v), ?2, ?3 || '-' || v, 'ios', ?3, v, v,
       CASE WHEN ?3 = 'revoked' THEN v END FROM n`,
  )
    .bind(project, consumer, state, n)
    .run()
}
