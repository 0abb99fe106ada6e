import { createHash, randomBytes } from 'node:crypto'
import { newId } from '../../src/lib/ids.ts'
import { JOBS } from '../../src/lib/key-presets.ts'
import { findByName, must } from './api.ts'
import { execute, literal, type Target } from './d1.ts'

/** How long the session of this script lives (ms), should the script be killed before it deletes it. */
const SESSION_MS = 5 * 60 * 1000

/** The names of the presets: the console's jobs, and `all` for every scope. */
export const KEY_PRESETS = [...JOBS.map(({ name }) => name), 'all']

/** @property secret null if the project had a key with this name, which stays as it is */
export type FirstKey = { project: string; isNew: boolean; key?: { id: string; secret: string | null } }

type Wanted = { project: string; key?: string; preset: string }

/**
 * Makes a user's project, and a key of it, unless the names exist. It writes a session into the database, has the API create both, and
 * deletes the session.
 *
 * @param url the server of this database
 * @throws if the server refuses
 */
export async function makeFirstKey(target: Target, url: string, user: string, wanted: Wanted): Promise<FirstKey> {
  const now = Date.now()
  const [session, token] = [newId('ses', now), `svc_cs_${randomBytes(32).toString('hex')}`]
  const hash = createHash('sha256').update(token).digest('hex')
  const row = [session, user, hash, now, now + SESSION_MS, now, now].map(literal).join(', ')
  await execute(
    target,
    `INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at, confirmed_at) VALUES (${row})`,
  )
  try {
    return await make(`${url}/platform/v1`, token, wanted)
  } finally {
    await execute(target, `DELETE FROM sessions WHERE id = ${literal(session)}`)
  }
}

async function make(api: string, token: string, { project: name, key, preset }: Wanted): Promise<FirstKey> {
  type Listed = { id: string; name: string; role: string | null; deleted_at: string | null }
  const isOwn = ({ role, deleted_at }: Listed) => role === 'owner' && deleted_at === null
  const there = await findByName<Listed>(`${api}/projects`, { token }, name, isOwn)
  const { id: project } = there ?? (await must<{ id: string }>(`${api}/projects`, { token, json: { name } }))
  const made = { project, isNew: !there }
  if (key === undefined) return made
  const kept = await findByName<{ id: string; name: string }>(`${api}/api-keys`, { token, project }, key)
  if (kept) return { ...made, key: { id: kept.id, secret: null } }
  const scopes = JOBS.find((job) => job.name === preset)?.scopes
  const minted = await must<{ key: { id: string }; secret: string }>(`${api}/api-keys`, {
    token,
    project,
    json: { name: key, ...(scopes && { scopes }) },
  })
  return { ...made, key: { id: minted.key.id, secret: minted.secret } }
}
