import { type CatalogWrites, writesFor } from '../catalog/differences'
import type { CatalogWanted } from '../catalog/document'
import { MAX_CATALOG_BYTES } from '../catalog/limits'
import { type CatalogState, catalogIn, catalogOf } from '../catalog/state'
import { batch } from '../db/client'
import { inRoom } from '../http/answering'
import { sha256Hex } from '../lib/crypto'
import { alteredBy, type CatalogChange, type PlanChange, readConcerned, walksOf } from './concerned'
import { type Previewing, previewList, previewOf } from './preview'

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
  if (change.plans.size + change.combines.size === 0) return { version, writes, ...NOTHING }
  const walked = await batch(db, walksOf(db, projectId, change, list.start))
  const moves = [...change.plans.values()].some(({ prices }) => prices !== undefined)
  const concerned = await readConcerned(db, projectId, walked, moves ? null : altered)
  return { version, writes, ...(await previewOf(rt, projectId, { ...concerned, altered, change }, list)) }
}

/**
 * What of a change can make a difference for a consumer. A feature that is combined in another way concerns every plan that gives it.
 *
 * @returns `altered`: features that plans give in another way, or that are combined in another way
 */
function changeIn(state: CatalogState, writes: CatalogWrites): { change: CatalogChange; altered: string[] } {
  const combines = new Map(
    writes.features.flatMap(({ before, after: { key, combine } }) =>
      before && combine && before.combine !== combine ? [[key, combine] as const] : [],
    ),
  )
  const giving = state.plans.filter(({ features }) => Object.keys(features).some((key) => combines.has(key)))
  const changed = writes.plans.map(({ before, after, fields }) => {
    const { key, rank, features, prices } = after
    const change: PlanChange = { key, rank, features, ...(fields.includes('prices') && { prices }) }
    return { id: before?.id ?? `new ${key}`, before, change }
  })
  const altered = changed.flatMap(({ before, change }) => alteredBy(before ?? NO_PLAN, change))
  return {
    change: {
      plans: new Map([
        ...giving.map(({ id }) => [id, {}] as const),
        ...changed.map(({ id, change }) => [id, change] as const),
      ]),
      combines,
    },
    altered: [...new Set([...altered, ...combines.keys()])],
  }
}

const NO_PLAN = { id: '', key: '', rank: 0, features: {} }
