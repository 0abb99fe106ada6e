import { call, type RequestOptions } from '../harness'

export const CONSUMERS = '/platform/v1/consumers'

/** The calls about consumers of one caller in a project. */
export function as(project: string, token: string, always: RequestOptions = {}) {
  const billing = (method: string, path: string, options: RequestOptions = {}) =>
    call(`/platform/v1/billing/customers${path}`, { method, project, token, ...always, ...options })
  const ask = (method: string, path: string, options: RequestOptions = {}) =>
    call(`${CONSUMERS}${path}`, { method, project, token, ...always, ...options })
  return {
    put: (externalId: string, json: object = {}, options?: RequestOptions) =>
      ask('PUT', `/ext:${externalId}`, { json, ...options }),
    create: (json: object = {}, options?: RequestOptions) => ask('POST', '', { json, ...options }),
    list: (query = '', options?: RequestOptions) => ask('GET', query, options),
    get: (consumer: string, options?: RequestOptions) => ask('GET', `/${consumer}`, options),
    patch: (consumer: string, json: object, options?: RequestOptions) =>
      ask('PATCH', `/${consumer}`, { json, ...options }),
    block: (consumer: string, json: object = {}, options?: RequestOptions) =>
      ask('POST', `/${consumer}/block`, { json, ...options }),
    erase: (consumer: string, options?: RequestOptions) => ask('DELETE', `/${consumer}`, options),
    erasure: (consumer: string, options?: RequestOptions) => ask('GET', `/${consumer}/erasure`, options),
    unblock: (consumer: string, json: object = {}, options?: RequestOptions) =>
      ask('POST', `/${consumer}/unblock`, { json, ...options }),
    customers: (query = '', options?: RequestOptions) => billing('GET', query, options),
    customer: (id: string, vendor = 'stripe') => billing('GET', `/${vendor}/${id}`),
    pin: (id: string, consumer: string | null, vendor = 'stripe', options?: RequestOptions) =>
      billing('PUT', `/${vendor}/${id}`, { json: { consumer }, ...options }),
    unpin: (id: string, vendor = 'stripe', options?: RequestOptions) =>
      billing('DELETE', `/${vendor}/${id}/pin`, options),
    merge: (consumer: string, into: string, options?: RequestOptions) =>
      ask('POST', `/${consumer}/merge`, { json: { into }, ...options }),
  }
}
