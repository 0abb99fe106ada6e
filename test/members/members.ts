import { type Role, rankOf } from '../../src/lib/access'
import { type Answer, call, D1_LOST, DIRECTORY, type RequestOptions, tamperedD1 } from '../harness'
import { rowsOfAll } from '../inbox/pipeline'

type Person = { user: string; token: string; email: string }

/** The calls of one caller in a project. */
export function as(project: string, token: string) {
  const ask = (method: string, path: string, options: RequestOptions = {}) =>
    call(`/platform/v1${path}`, { method, project, token, ...options })
  return {
    give: (user: string, role: Role, options?: RequestOptions) =>
      ask('PATCH', `/members/${user}`, { json: { role }, ...options }),
    remove: (user: string, query = '', options?: RequestOptions) => ask('DELETE', `/members/${user}${query}`, options),
    member: (user: string) => ask('GET', `/members/${user}`),
    members: (query = '') => ask('GET', `/members${query}`),
    invitation: (id: string) => ask('GET', `/invitations/${id}`),
    invitations: (query = '') => ask('GET', `/invitations${query}`),
    resend: (id: string, options?: RequestOptions) => ask('POST', `/invitations/${id}/resend`, options),
    revoke: (id: string, options?: RequestOptions) => ask('DELETE', `/invitations/${id}`, options),
  }
}

export const accept = ({ token }: Pick<Person, 'token'>, id: string, options: RequestOptions = {}) =>
  call(`/auth/invitations/${id}/accept`, { method: 'POST', token, ...options })
export const decline = ({ token }: Pick<Person, 'token'>, id: string) =>
  call(`/auth/invitations/${id}/decline`, { method: 'POST', token })

/** Status and code of an answer. */
export const told = ({ status, body }: Answer<unknown>) => [status, (body as { code?: string } | null)?.code ?? null]

/** The roles in a project by user. */
export async function rolesIn(project: string): Promise<Record<string, Role>> {
  const { results } = await DIRECTORY.prepare('SELECT user_id, role FROM members WHERE project_id = ?')
    .bind(project)
    .all<{ user_id: string; role: Role }>()
  return Object.fromEntries(results.map(({ user_id, role }) => [user_id, role]))
}

export const ownersIn = async (project: string) =>
  Object.values(await rolesIn(project)).filter((role) => rankOf(role) === rankOf('owner')).length

/** The actions in the audit log of a project about one object, oldest first. */
export async function logged(project: string, object: string) {
  const sql = 'SELECT action, details FROM audit_log WHERE project_id = ? AND object_id = ? ORDER BY id'
  const found = await rowsOfAll<{ action: string; details: string }>(sql, project, object)
  return found.map(({ action, details }) => [action, JSON.parse(details)])
}

/** D1 before whose second call (the first after the caller's credentials) something happens. */
export function beforeSecond(happens: () => Promise<void>) {
  let calls = 0
  return tamperedD1(async ({ run }) => {
    calls += 1
    if (calls === 2) await happens()
    return run()
  })
}

/** D1 that does not answer a call with such a statement. */
export function losing(statement: RegExp) {
  return tamperedD1(async ({ sql, run }) => {
    if (statement.test(sql)) throw new Error(D1_LOST)
    return run()
  })
}
