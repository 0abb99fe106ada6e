import { newId } from '../../src/lib/ids'
import { STORE } from '../harness'

/** A notice, written to the database as it is opened. */
export async function insertNotice(project: string, fields: Record<string, string | number | null> = {}) {
  const now = Date.now()
  const id = newId('ntc', now)
  const row = {
    project_id: project,
    id,
    kind: 'connection_degraded',
    object_id: `con_${id}`,
    facts: '{"name":"Stripe","refused":20}',
    opened_at: now,
    mail_due_at: now,
    ...fields,
  }
  const columns = Object.keys(row)
  await STORE.prepare(`INSERT INTO notices (${columns.join()}) VALUES (${columns.map(() => '?').join()})`)
    .bind(...Object.values(row))
    .run()
  return id
}
