import { newId } from '../../src/lib/ids'
import { STORE } from '../harness'

const CONSUMER = `INSERT INTO consumers (project_id, id, metadata, state, merged_into, revision, created_at, updated_at)
  VALUES (?1, ?2, '{}', ?3, ?4, 1, ?5, ?5)`

/** A consumer with these external ids, written to the database. @returns its id */
export async function insertConsumer(project: string, ...externalIds: (string | null)[]): Promise<string> {
  const now = Date.now()
  const id = newId('csm', now)
  const ids = externalIds.filter((one) => one !== null)
  const insertId = STORE.prepare(
    'INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  await STORE.batch([
    STORE.prepare(CONSUMER).bind(project, id, 'active', null, now),
    ...ids.map((one, position) => insertId.bind(project, one, id, position, now)),
  ])
  return id
}

/** Consumers that were merged into another one, written to the database. @returns their ids */
export async function insertMerged(project: string, into: string, n: number): Promise<string[]> {
  const now = Date.now()
  const ids = Array.from({ length: n }, () => newId('csm', now))
  await STORE.batch(ids.map((id) => STORE.prepare(CONSUMER).bind(project, id, 'merged', into, now)))
  return ids
}

/** A consumer that was erased, written to the database. @returns its id */
export async function insertErased(project: string): Promise<string> {
  const now = Date.now()
  const [id, erasure] = [newId('csm', now), newId('ers', now)]
  await STORE.batch([
    STORE.prepare(CONSUMER).bind(project, id, 'erased', null, now),
    STORE.prepare('UPDATE consumers SET erasure_id = ? WHERE project_id = ? AND id = ?').bind(erasure, project, id),
    STORE.prepare(
      'INSERT INTO erasures (project_id, id, consumer_id, requested_at, due_at) VALUES (?1, ?2, ?3, ?4, ?4)',
    ).bind(project, erasure, id, now),
  ])
  return id
}

/** A customer of Stripe's with a pin, or with a claim that names nobody, written to the database. */
export async function insertLink(
  project: string,
  customer: string,
  { pinned, hint = 'nobody', vendor = 'stripe' }: { pinned?: string; hint?: string; vendor?: string } = {},
) {
  await STORE.prepare(
    `INSERT INTO customer_links (project_id, customer, vendor, pinned, hint, hint_rank)
     VALUES (?, ?, ?, ?, ?, '2026-01-01T00:00:00.000000000 1 evt_1 evt_00000000000000000000000000')`,
  )
    .bind(project, customer, vendor, pinned ?? null, hint)
    .run()
}
