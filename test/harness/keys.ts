import { call } from './call'
import { stripeConnection } from './deliveries'
import { freshKey } from './people'
import { STORE } from './stores'

export const KEYS = '/platform/v1/api-keys'
export const PROJECTS = '/platform/v1/projects'

/** A project with a key and a Stripe connection. */
export async function freshConnection() {
  const world = await freshKey()
  return { ...world, connection: await stripeConnection(world.secret, world.project) }
}

/** A key with the secret that it had before it was rotated. */
export async function rotatedKey() {
  const world = await freshKey()
  await call(`${KEYS}/${world.key.id}/rotate`, { method: 'POST', token: world.owner.token, project: world.project })
  return world
}

/** A key that was revoked. */
export async function revokedKey() {
  const world = await freshKey()
  await call(`${KEYS}/${world.key.id}`, { method: 'DELETE', token: world.owner.token, project: world.project })
  return world
}

/** A key that has expired. */
export async function expiredKey() {
  const world = await freshKey()
  await STORE.prepare('UPDATE api_keys SET expires_at = ? WHERE id = ?')
    .bind(Date.now() - 1, world.key.id)
    .run()
  return world
}

/** Copies a row of the project until it has `n` of them. */
export async function fillTable(table: 'api_keys' | 'connections', project: string, n: number) {
  const { results } = await STORE.prepare(`SELECT * FROM ${table} WHERE project_id = ?`).bind(project).all()
  const [row] = results as Record<string, unknown>[]
  if (!row) throw new Error(`no row of ${table} to copy`)
  const columns = Object.keys(row)
  const insert = STORE.prepare(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const copies = Array.from({ length: n - results.length }, (_, i) =>
    insert.bind(
      ...columns.map((name) => ({ id: `${row.id}-${i}`, hash: `${row.hash}-${i}`, secrets: '[]' })[name] ?? row[name]),
    ),
  )
  await STORE.batch(copies)
}
