import { call, DIRECTORY, freshProject, mint, ORDINARY, type RequestOptions, STORE } from '../harness'

type Fields = Record<string, unknown>
const KEYS = '/platform/v1/api-keys'

/** What tests do with the keys of one project. */
export function keysOf(project: string, owner: string) {
  const send = (method: string, path: string, token: string, json?: unknown, options: RequestOptions = {}) =>
    call(`${KEYS}${path}`, { method, token, project, ...(json !== undefined && { json }), ...options })
  return {
    send,
    /** A new key that may be handed on. */
    make: (fields: Fields = {}) => mint(owner, project, { scopes: ORDINARY, ...fields }),
    rotate: (id: string, json: unknown = {}, token = owner, options: RequestOptions = {}) =>
      send('POST', `/${id}/rotate`, token, json, options),
    patch: (id: string, json: unknown, token = owner, options: RequestOptions = {}) =>
      send('PATCH', `/${id}`, token, json, options),
    end: (id: string, which: 'pending' | 'previous', options: RequestOptions = {}) =>
      send('DELETE', `/${id}/${which}-secret`, owner, undefined, options),
    revoke: (id: string, query = '') => send('DELETE', `/${id}${query}`, owner),
    read: async (id: string) => (await send('GET', `/${id}`, owner)).body,
    /** What a secret is answered: 200, or the code. */
    says: async (token: string, options: RequestOptions = {}) => {
      const { status, body } = await call(`${KEYS}/self`, { token, project, ...options })
      return status === 200 ? 200 : (body.code as string)
    },
  }
}

/** A new project and its owner, whose session outlasts what a test does with the clock. */
export async function lastingProject() {
  const made = await freshProject()
  await DIRECTORY.prepare('UPDATE sessions SET expires_at = expires_at * 2 WHERE user_id = ?')
    .bind(made.owner.user)
    .run()
  return made
}

/** How a key shows one of its secrets. */
export const shown = (secret: string) => `${secret.slice(0, 11)}…${secret.slice(-4)}`

/** The entries about an object, in the order of the feed. */
export async function entriesOf(id: string) {
  const { results } = await STORE.prepare(
    `SELECT a.action, a.actor_type, a.actor_id, a.request_id, a.client_request_id, a.object_type, a.details FROM audit_log a
      LEFT JOIN (SELECT c.seq, c.project_id, i.value ->> 'cause' AS cause FROM changes c, json_each(c.items) i) c
        ON c.project_id = a.project_id AND c.cause = a.id
      WHERE a.object_id = ? ORDER BY c.seq, a.id`,
  )
    .bind(id)
    .all<
      Record<
        'action' | 'actor_type' | 'actor_id' | 'request_id' | 'client_request_id' | 'object_type' | 'details',
        string | null
      >
    >()
  return results.map(({ details, ...entry }) => ({ ...entry, details: details == null ? null : JSON.parse(details) }))
}
