import { must } from '../../scripts/lib/api.ts'

type Made = { project: string; key: string }

/**
 * Creates a project with an API key, whose owner is the user of a session.
 *
 * @param scopes of the key; those of a key without any named if it is not given
 */
export async function newProject(url: string, token: string, name: string, scopes?: readonly string[]): Promise<Made> {
  const { id: project } = await must<{ id: string }>(`${url}/platform/v1/projects`, { token, json: { name } })
  const { secret: key } = await must<{ secret: string }>(`${url}/platform/v1/api-keys`, {
    ...{ token, project },
    json: { name: 'first key', ...(scopes && { scopes }) },
  })
  return { project, key }
}
