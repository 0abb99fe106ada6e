import { crc32Hex, randomHex } from '../../src/lib/crypto'
import { call, freshAddress, type RequestOptions, STORE } from '../harness'
import { rowsOfAll } from '../inbox/pipeline'

export const report = (secret: unknown, options: RequestOptions = {}) =>
  call('/exposures', { method: 'POST', json: { secret }, headers: { 'CF-Connecting-IP': freshAddress() }, ...options })

/** A secret that looks like that of an API key and is none. */
export function madeUp(): string {
  const payload = `svc_v1_${randomHex(43).slice(0, 85)}000`
  return payload + crc32Hex(payload)
}

export type Told = { kind: string; object_id: string; facts: Record<string, unknown>; closed_at: number | null }

/** The notices of a project, newest first. */
export async function noticesIn(project: string): Promise<Told[]> {
  const { results } = await STORE.prepare('SELECT * FROM notices WHERE project_id = ? ORDER BY id DESC')
    .bind(project)
    .all<Told & { facts: string }>()
  return results.map((row) => ({ ...row, facts: JSON.parse(row.facts) }))
}

/** The entries about an object: their actions, authors and details. */
export async function logged(id: string) {
  const { results } = await STORE.prepare(
    "SELECT action, actor_type, actor_id, details FROM audit_log WHERE object_id = ? AND actor_type = 'system' ORDER BY id",
  )
    .bind(id)
    .all<{ action: string; actor_type: string; actor_id: string; details: string }>()
  return results.map(({ action, actor_id, details }) => [action, actor_id, JSON.parse(details)])
}

/** Whether a text is in any row of any table. */
export async function isStored(text: string): Promise<boolean> {
  const tables = await rowsOfAll<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*'",
  )
  for (const { name } of tables) {
    const rows = await rowsOfAll<Record<string, unknown>>(`SELECT * FROM "${name}"`)
    if (JSON.stringify(rows).includes(text)) return true
  }
  return false
}
