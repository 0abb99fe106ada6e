import { newId } from '../../src/lib/ids'
import { STORE } from '../harness'

/** Features, written to the database: `sso` is a boolean, `seats` a quantity, `limits` a config, and any other a boolean. */
export async function insertFeatures(project: string, ...keys: string[]): Promise<void> {
  const insert = STORE.prepare(
    'INSERT INTO features (project_id, key, name, type, combine, created_at) VALUES (?, ?, ?, ?, ?, 0)',
  )
  const typeOf = (key: string) => (key === 'seats' ? 'quantity' : key === 'limits' ? 'config' : 'boolean')
  await STORE.batch(
    keys.map((key) => insert.bind(project, key, key, typeOf(key), typeOf(key) === 'quantity' ? 'max' : null)),
  )
}

/** A plan with a price of Stripe's, written to the database. @returns its id */
export async function insertPlan(project: string, key: string, price?: string): Promise<string> {
  const id = newId('pln', Date.now())
  const plan = STORE.prepare(
    `INSERT INTO plans (project_id, id, key, name, rank, state, features, revision, updated_at)
     VALUES (?, ?, ?, ?, 0, 'active', '{"sso":{"value":true,"per_seat":false}}', 1, 0)`,
  ).bind(project, id, key, key)
  const ref = STORE.prepare("INSERT INTO plan_refs (project_id, vendor, ref, plan_id) VALUES (?, 'stripe', ?, ?)")
  await STORE.batch(price === undefined ? [plan] : [plan, ref.bind(project, price, id)])
  return id
}
