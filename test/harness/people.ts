import type { Role } from '../../src/lib/access'
import { sha256Hex } from '../../src/lib/crypto'
import { newId } from '../../src/lib/ids'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import { call } from './call'
import { DIRECTORY } from './stores'

/** A user with a live session, written to the database as signing in would write them. */
export async function signedIn(email = `${newId('usr', Date.now()).slice(-10)}@example.com`) {
  const now = Date.now()
  const user = newId('usr', now)
  const token = newSessionToken()
  await DIRECTORY.batch([
    DIRECTORY.prepare('INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)').bind(user, email, now),
    DIRECTORY.prepare(
      'INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at) VALUES (?, ?, ?, ?, ?, ?)',
    ).bind(newId('ses', now), user, await sha256Hex(token), now, now + 12 * HOUR, now),
  ])
  return { user, email, token }
}

/** A new project and its owner. */
export async function freshProject(name = 'Test') {
  const owner = await signedIn()
  const { body } = await call('/platform/v1/projects', { method: 'POST', token: owner.token, json: { name } })
  return { project: body.id, owner }
}

/** A new user with this role in the project, written to the database as an invitation would write them. */
export async function addMember(project: string, role: Role) {
  const member = await signedIn()
  await DIRECTORY.prepare('INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, ?, ?)')
    .bind(project, member.user, role, Date.now())
    .run()
  return member
}

/** Mints a key. */
export async function mint(token: string, project: string, fields: Record<string, unknown> = {}) {
  const { status, body } = await call('/platform/v1/api-keys', {
    method: 'POST',
    token,
    project,
    json: { name: 'test key', ...fields },
  })
  if (status !== 201) throw new Error(`mint answered ${status}: ${JSON.stringify(body)}`)
  return { key: body.key, secret: body.secret }
}

/** A new project, its owner, and a key with every scope. */
export async function freshKey() {
  const { project, owner } = await freshProject()
  const { key, secret } = await mint(owner.token, project)
  return { project, owner, key, secret }
}
