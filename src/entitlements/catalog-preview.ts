import { type CatalogWrites, writesFor } from '../catalog/differences'
import type { CatalogWanted } from '../catalog/document'
import { MAX_CATALOG_BYTES } from '../catalog/limits'
import { type CatalogState, catalogIn, catalogOf } from '../catalog/state'
import { batch } from '../db/client'
import { inRoom } from '../http/answering'
import { sha256Hex } from '../lib/crypto'
import { ENTITLEMENT_SETTINGS } from '../tenancy/settings'
import {
  alteredBy,
  type CatalogChange,
  concernsAll,
  isForAny,
  type PlanChange,
  readConcerned,
  walksOf,
} from './concerned'
import { type Previewing, previewList, previewOf } from './preview'
import type { Rules } from './window'

const NOTHING = {
  ...{ examined: 0, affected: 0, gains: {}, losses: {}, reductions: {}, changes: [] },
  ...{ has_more: false, next_cursor: null },
}

/**
 * What a document would write to the catalog of a project, and what that would make of its consumers. Everything that differs counts at
 * once. It writes nothing. One call looks at a part of them, as `previewPlan` does.
 *
 * @throws {Fault} what `writesFor` throws, `payload_too_large`, `invalid_cursor`, `overloaded`
 */
export async function previewCatalog(
  { rt, ask }: Previewing,
  projectId: string,
  document: CatalogWanted,
  cursor: string | undefined,
) {
  const { db } = rt
  const { version, writes, change, altered } = await inRoom(rt, projectId, MAX_CATALOG_BYTES, async () => {
    const state = await catalogIn(await ask(catalogOf(db, projectId)))
    const writes = writesFor(state, document)
    return { version: state.version, writes, ...changeIn(state, writes) }
  })
  const list = previewList('catalog_preview', { version, body: await sha256Hex(JSON.stringify(document)) }, cursor)
  if (!isForAny(change)) return { version, writes, ...NOTHING }
  const walked = await batch(db, walksOf(db, projectId, change, list.start))
  const { plans, rules } = change
  const moves = [...plans.values()].some(({ prices }) => prices !== undefined)
  const asked = { keys: moves || concernsAll(rules) ? null : altered, rules }
  const concerned = await readConcerned(db, projectId, walked, asked)
  return { version, writes, ...(await previewOf(rt, projectId, { ...concerned, altered, change }, list)) }
}

/**
 * What of a change can make a difference for a consumer. A feature that is combined in another way concerns every plan that gives it.
 *
 * @returns `altered`: features that plans give in another way, or that are combined in another way
 */
function changeIn(state: CatalogState, writes: CatalogWrites): { change: CatalogChange; altered: string[] } {
  const rules = rulesIn(state, writes)
  const combines = new Map(
    writes.features.flatMap(({ before, after: { key, combine } }) =>
      before && combine && before.combine !== combine ? [[key, combine] as const] : [],
    ),
  )
  const giving = state.plans.filter(({ features }) => Object.keys(features).some((key) => combines.has(key)))
  const changed = writes.plans.map(({ before, after, fields }) => {
    const { key, rank, features, prices } = after
    const change: PlanChange = { key, rank, features, ...(fields.includes('prices') && { prices }) }
    return { id: before?.id ?? newPlan(key), before, change }
  })
  const altered = changed.flatMap(({ before, change }) => alteredBy(before ?? NO_PLAN, change))
  return {
    change: {
      plans: new Map([
        ...giving.map(({ id }) => [id, {}] as const),
        // What it gives is read of a plan that consumers have, and none has this one yet.
        ...state.plans
          .filter(({ id }) => id === rules.default_plan)
          .map(({ id, features }) => [id, { features }] as const),
        ...changed.map(({ id, change }) => [id, change] as const),
      ]),
      added: writes.features.flatMap(({ before, after }) => (before ? [] : [after])),
      combines,
      rules,
    },
    altered: [...new Set([...altered, ...combines.keys(), ...ruledBy(rules, state, writes)])],
  }
}

/** The settings that decide about entitlements and change. The default plan has its id. */
function rulesIn({ plans }: CatalogState, { settings }: CatalogWrites): Partial<Rules> {
  const rules = Object.fromEntries(Object.entries(settings).filter(([name]) => DECIDING.has(name))) as Partial<Rules>
  if (!rules.default_plan) return rules
  const known = plans.find(({ key }) => key === rules.default_plan)
  return { ...rules, default_plan: known?.id ?? newPlan(rules.default_plan) }
}

/** The features that settings can make different: those of the two default plans, or of all plans. */
function ruledBy(rules: Partial<Rules>, state: CatalogState, writes: CatalogWrites): string[] {
  if (!concernsAll(rules)) return []
  const isDefaultAlone = Object.keys(rules).every((name) => name === 'default_plan')
  const defaults = [state.settings.default_plan, writes.settings.default_plan]
  const plans = [...state.plans, ...writes.plans.map(({ after }) => after)]
  const those = plans.filter(({ key }) => !isDefaultAlone || defaults.includes(key))
  return those.flatMap(({ features }) => Object.keys(features))
}

/** The id by which a plan that is to be made goes until then. */
const newPlan = (key: string) => `new ${key}`
const DECIDING: ReadonlySet<string> = new Set(ENTITLEMENT_SETTINGS)

const NO_PLAN = { id: '', key: '', rank: 0, features: {} }
