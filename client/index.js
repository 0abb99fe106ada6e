import createFetchClient from 'openapi-fetch'

export function createClient({ baseUrl, token, projectId, headers, ...options }) {
  return createFetchClient({
    ...options,
    baseUrl,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(projectId !== undefined && { 'X-Project-Id': projectId }),
      ...headers,
    },
  })
}
