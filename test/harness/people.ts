import { CONFIRMED_FOR } from '../../src/http/limits'
import { ADMINISTRATIVE, type Role, SCOPES } from '../../src/lib/access'
import { sha256Hex } from '../../src/lib/crypto'
import { newId } from '../../src/lib/ids'
import { HOUR } from '../../src/lib/time'
import { newSessionToken } from '../../src/sessions/secret'
import { call, type RequestOptions } from './call'
import { mailbox } from './stand-ins'
import { DIRECTORY } from './stores'

/** A user with a live session, written to the database as signing in would write them. */
export async function signedIn(email = freshEmail()) {
  const now = Date.now()
  const user = newId('usr', now)
  const token = newSessionToken()
  await DIRECTORY.batch([
    DIRECTORY.prepare('INSERT INTO users (id, email, created_at) VALUES (?, ?, ?)').bind(user, email, now),
    DIRECTORY.prepare(
      'INSERT INTO sessions (id, user_id, hash, created_at, expires_at, last_used_at, confirmed_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    ).bind(newId('ses', now), user, await sha256Hex(token), now, now + 12 * HOUR, now, now),
  ])
  return { user, email, token }
}

/** Moves the confirmation of a user’s sessions into the past: by default, so far that it has just expired. */
export async function unconfirm(user: string, ago = CONFIRMED_FOR) {
  await DIRECTORY.prepare('UPDATE sessions SET confirmed_at = ? WHERE user_id = ?')
    .bind(Date.now() - ago, user)
    .run()
}

/** A new project and its owner. */
export async function freshProject(name = 'Test') {
  const owner = await signedIn()
  const { body } = await call('/platform/v1/projects', { method: 'POST', token: owner.token, json: { name } })
  return { project: body.id, owner }
}

/** A new user with this role in the project, written to the database as an invitation would write them. */
export async function addMember(project: string, role: Role, email?: string) {
  const member = await signedIn(email)
  await DIRECTORY.prepare(
    "INSERT INTO members (project_id, user_id, role, created_at, source) VALUES (?, ?, ?, ?, 'invitation')",
  )
    .bind(project, member.user, role, Date.now())
    .run()
  return member
}

/** Makes the user the owner of `n` more projects, or gives them another role there. */
export async function owning(user: string, n: number, role: Role = 'owner') {
  const insert = DIRECTORY.prepare('INSERT INTO members (project_id, user_id, role, created_at) VALUES (?, ?, ?, 0)')
  await DIRECTORY.batch(Array.from({ length: n }, () => insert.bind(newId('prj', Date.now()), user, role)))
}

/** An address that no other test has used. */
export function freshEmail() {
  return `${newId('usr', Date.now()).slice(-10)}@example.com`
}

/** Invites an address, a new one by default. */
export function invite(
  project: string,
  token: string,
  fields: { email?: string; role?: string; expires_in_days?: number } = {},
  options: RequestOptions = {},
) {
  const json = { email: freshEmail(), role: 'viewer', ...fields }
  const bindings = { EMAIL: mailbox().EMAIL, ...options.bindings }
  return call('/platform/v1/invitations', { method: 'POST', project, token, ...options, json, bindings })
}

type Invited = { email: string; role: Role; state: string; expires_at: number; authorized_by: string }

/** An invitation that was sent long ago, written to the database. */
export async function invited(project: string, fields: Partial<Invited> = {}) {
  const now = Date.now()
  const row = { email: freshEmail(), role: 'viewer', state: 'pending', expires_at: now + HOUR, ...fields }
  const id = newId('inv', now)
  const { email, role, state, expires_at, authorized_by = 'usr_nobody' } = row
  await DIRECTORY.prepare(
    `INSERT INTO invitations (project_id, id, email, role, state, invited_by_type, invited_by_id, authorized_by, created_at,
      open_days, expires_at, sent_at, sends, recent_sends) VALUES (?1, ?2, ?3, ?4, ?5, 'user', ?6, ?6, ?7, 7, ?8, 1, 1, '[1]')`,
  )
    .bind(project, id, email, role, state, authorized_by, now, expires_at)
    .run()
  return { id, email }
}

/** Every scope that another API key may hand on: all but the administrative ones. */
export const ORDINARY = SCOPES.filter((scope) => !ADMINISTRATIVE.includes(scope))

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
