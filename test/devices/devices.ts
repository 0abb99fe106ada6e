import { call, freshKey, type RequestOptions } from '../harness'

const CONSUMERS = '/platform/v1/consumers'

/** The calls about devices of one caller in a project. */
export function as(project: string, token: string, always: RequestOptions = {}) {
  const ask = (method: string, path: string, options: RequestOptions = {}) =>
    call(`${CONSUMERS}${path}`, { method, project, token, ...always, ...options })
  return {
    consumer: (externalId: string) => ask('PUT', `/ext:${externalId}`, { json: {} }),
    get: (consumer: string, options?: RequestOptions) => ask('GET', `/${consumer}`, options),
    block: (consumer: string, verb = 'block') => ask('POST', `/${consumer}/${verb}`, { json: {} }),
    erase: (consumer: string) => ask('DELETE', `/${consumer}`),
    merge: (consumer: string, into: string, options?: RequestOptions) =>
      ask('POST', `/${consumer}/merge`, { json: { into }, ...options }),
    register: (consumer: string, installation: string, fields: object = {}, options?: RequestOptions) =>
      ask('PUT', `/${consumer}/devices/${installation}`, { json: { platform: 'ios', ...fields }, ...options }),
    list: (consumer: string, query = '', options?: RequestOptions) =>
      ask('GET', `/${consumer}/devices${query}`, options),
    one: (consumer: string, id: string, options?: RequestOptions) => ask('GET', `/${consumer}/devices/${id}`, options),
    update: (consumer: string, id: string, json: object, options?: RequestOptions) =>
      ask('PATCH', `/${consumer}/devices/${id}`, { json, ...options }),
    rotate: (consumer: string, id: string, json?: object, options?: RequestOptions) =>
      ask('POST', `/${consumer}/devices/${id}/rotate`, { ...(json && { json }), ...options }),
    end: (consumer: string, id: string, which: 'pending' | 'previous', options?: RequestOptions) =>
      ask('DELETE', `/${consumer}/devices/${id}/${which}-token`, options),
    revoke: (consumer: string, id: string, options?: RequestOptions) =>
      ask('DELETE', `/${consumer}/devices/${id}`, options),
    verify: (deviceToken: string, options?: RequestOptions, more: object = {}) =>
      call('/platform/v1/devices/verify', {
        method: 'POST',
        project,
        token,
        json: { token: deviceToken, ...more },
        ...always,
        ...options,
      }),
  }
}

/** A new project with a consumer `ext:u`, a limit of devices if it is given, and the calls with a key of the project. */
export async function newApi(limit?: number, always: RequestOptions = {}) {
  const { project, secret, owner } = await freshKey()
  const api = as(project, secret, always)
  const { body } = await api.consumer('u')
  if (limit !== undefined) await setLimit(project, owner.token, limit)
  return { project, owner, secret, api, consumer: body.id as string }
}

/** Sets how many devices each consumer of a project can have. */
export async function setLimit(project: string, owner: string, max_devices: number) {
  const json = { settings: { max_devices } }
  return call(`/platform/v1/projects/${project}`, { method: 'PATCH', token: owner, json })
}
