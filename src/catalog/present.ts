import type * as z from 'zod'
import type { CatalogWrites } from './differences'
import type { CatalogShown, WritesShown } from './document'
import type { CatalogState } from './state'

export function presentCatalog({ version, features, plans, settings }: CatalogState): z.infer<typeof CatalogShown> {
  const shownPlans = plans.map(({ key, name, rank, state, features, prices }) => {
    const mapped = prices.map(({ vendor, ref, lasts = null, again = null }) => ({ vendor, ref, lasts, again }))
    return [key, { name, rank, state, features, prices: mapped }] as const
  })
  const shownFeatures = features.map(({ key, name, type, combine }) => {
    return [key, { name, type, ...(combine && { combine }) }] as const
  })
  return { version, features: Object.fromEntries(shownFeatures), plans: Object.fromEntries(shownPlans), settings }
}

/** What a change writes, by the keys of features and plans and the names of settings. */
export function presentWrites({ features, deleted, plans, settings }: CatalogWrites): z.infer<typeof WritesShown> {
  const keysOf = (list: readonly { before: unknown; after: { key: string } }[], isNew: boolean) =>
    list.filter(({ before }) => (before === null) === isNew).map(({ after }) => after.key)
  return {
    features: { created: keysOf(features, true), updated: keysOf(features, false), deleted },
    plans: { created: keysOf(plans, true), updated: keysOf(plans, false) },
    settings: Object.keys(settings),
  }
}
