import { newId } from '../../src/lib/ids'
import { STORE } from '../harness'

/** Live grants of the feature `sso`, written to the database. @returns the id of the last one */
export async function insertGrants(project: string, consumer: string, n = 1): Promise<string> {
  const ids = Array.from({ length: n }, () => newId('grt', Date.now()))
  const insert = STORE.prepare(
    `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
     VALUES (?, ?, ?, 'sso', 'allow', 'true', 'usr_none')`,
  )
  await STORE.batch(ids.map((id) => insert.bind(project, consumer, id)))
  return ids.at(-1) as string
}

/** As many grants of the feature `seats`, before all those that a test makes in the order of their ids. */
export async function insertEarlierGrants(project: string, consumer: string, n: number): Promise<void> {
  const insert = STORE.prepare(
    `INSERT INTO grants (project_id, consumer_id, id, feature, effect, value, actor)
     WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < ?)
     SELECT ?, ?, printf('grt_00%05d', v), 'seats', 'allow', '1', 'usr_none' FROM n`,
  )
  await insert.bind(n, project, consumer).run()
}

/** What the feed has told of a consumer, written to the database. */
export async function insertState(project: string, features: object = { sso: true }): Promise<string> {
  const consumer = newId('csm', Date.now())
  await STORE.prepare(
    'INSERT INTO entitlement_states (project_id, consumer_id, features, due_at, revision, skipped_at) VALUES (?, ?, ?, NULL, 1, NULL)',
  )
    .bind(project, consumer, JSON.stringify(features))
    .run()
  return consumer
}
