import type * as z from 'zod'
import type { Feature, Plan } from '../../src/catalog/fields'
import type { PlanPreview } from '../../src/entitlements/preview-fields'
import { call, type RequestOptions } from '../harness'

const BILLING = '/platform/v1/billing'
type List<T> = { data: T[]; has_more: boolean }

/** The calls about the catalog of one caller in a project. */
export function catalogAs(project: string, token: string, always: RequestOptions = {}) {
  const ask = <T>(method: string, path: string, options: RequestOptions = {}) =>
    call<T>(`${BILLING}${path}`, { method, project, token, ...always, ...options })
  return {
    feature: (key: string, json: object = { name: key, type: 'boolean' }, options?: RequestOptions) =>
      ask<z.infer<typeof Feature>>('PUT', `/features/${key}`, { json, ...options }),
    features: () => ask<List<z.infer<typeof Feature>>>('GET', '/features?limit=100'),
    dropFeature: (key: string, options?: RequestOptions) => ask('DELETE', `/features/${key}`, options),
    plan: (json: object, options?: RequestOptions) => ask<z.infer<typeof Plan>>('POST', '/plans', { json, ...options }),
    change: (id: string, json: object, options?: RequestOptions) =>
      ask<z.infer<typeof Plan>>('PATCH', `/plans/${id}`, { json, ...options }),
    preview: (id: string, json: object, options?: RequestOptions) =>
      ask<z.infer<typeof PlanPreview>>('POST', `/plans/${id}/preview`, { json, ...options }),
    plans: (options?: RequestOptions) => ask<List<z.infer<typeof Plan>>>('GET', '/plans', options),
    get: (id: string) => ask<z.infer<typeof Plan>>('GET', `/plans/${id}`),
  }
}
