import type * as z from 'zod'
import type { CatalogShown, CatalogWritten } from '../../src/catalog/document'
import type { FeatureShown, PlanShown } from '../../src/catalog/fields'
import type { CatalogPreview, PlanPreview } from '../../src/entitlements/preview-fields'
import { call, type RequestOptions } from '../harness'

const BILLING = '/platform/v1/billing'
type List<T> = { data: T[]; has_more: boolean }

/** The calls about the catalog of one caller in a project. */
export function catalogAs(project: string, token: string, always: RequestOptions = {}) {
  const ask = <T>(method: string, path: string, options: RequestOptions = {}) =>
    call<T>(`${BILLING}${path}`, { method, project, token, ...always, ...options })
  return {
    feature: (key: string, json: object = { name: key, type: 'boolean' }, options?: RequestOptions) =>
      ask<z.infer<typeof FeatureShown>>('PUT', `/features/${key}`, { json, ...options }),
    features: () => ask<List<z.infer<typeof FeatureShown>>>('GET', '/features?limit=100'),
    dropFeature: (key: string, options?: RequestOptions) => ask('DELETE', `/features/${key}`, options),
    plan: (json: object, options?: RequestOptions) =>
      ask<z.infer<typeof PlanShown>>('POST', '/plans', { json, ...options }),
    change: (id: string, json: object, options?: RequestOptions) =>
      ask<z.infer<typeof PlanShown>>('PATCH', `/plans/${id}`, { json, ...options }),
    preview: (id: string, json: object, options?: RequestOptions) =>
      ask<z.infer<typeof PlanPreview>>('POST', `/plans/${id}/preview`, { json, ...options }),
    plans: (options?: RequestOptions) => ask<List<z.infer<typeof PlanShown>>>('GET', '/plans', options),
    whole: (options?: RequestOptions) => ask<z.infer<typeof CatalogShown>>('GET', '/catalog', options),
    put: (json: object, options?: RequestOptions) =>
      ask<z.infer<typeof CatalogWritten>>('PUT', '/catalog', { json, ...options }),
    previewWhole: (json: object, query = '') =>
      ask<z.infer<typeof CatalogPreview>>('POST', `/catalog/preview${query}`, { json }),
    get: (id: string) => ask<z.infer<typeof PlanShown>>('GET', `/plans/${id}`),
  }
}
