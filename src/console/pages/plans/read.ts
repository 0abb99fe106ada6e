import { readNamed } from '../../../audit-log/objects'
import { auditPaging, listAudit } from '../../../audit-log/read'
import { amountsOfPrices, type PricedRef } from '../../../catalog/amounts'
import { type Feature, listFeatures } from '../../../catalog/features'
import {
  findPlan,
  mappedPrices,
  type Plan,
  type Price,
  plansOfPrices,
  requireFree,
  withPrices,
} from '../../../catalog/plans'
import { listRevisions, type Revision } from '../../../catalog/revisions'
import { countByPlan, type PlanCount, type Unmapped, unmappedPrices } from '../../../catalog/sold'
import { batch, type Results, run } from '../../../db/client'
import { previewPlan } from '../../../entitlements/preview'
import { projectOf } from '../../../http/auth'
import { requireFound } from '../../../lib/fault'
import { idTime } from '../../../lib/ids'
import { findSettings } from '../../../tenancy/project'
import { can, type Visit } from '../../page'
import { priceOf } from '../../ui/format'
import type { NamedEntry } from '../audit-log/entry'
import { readPeople } from '../audit-log/names'
import { differencesOf, type WantedPlan } from './differences'

/** How many entries of the audit log the page of a plan shows. */
const HISTORY = 10
/** How many calls of a preview one page adds up. Each takes up to three round trips. */
const PREVIEWS = 4

/** A preview, with what its consumers are called. */
export type ShownPreview = Awaited<ReturnType<typeof previewPlan>> & { names: ReadonlyMap<string, string> }

/** Reads the features of the catalog. */
export function readCatalog(c: Visit): Promise<Feature[]> {
  const { db } = c.get('rt')
  return run(db, listFeatures(db, projectOf(c.get('actor'))))
}

/** Reads what the form of a new plan offers: the features of the catalog, and the prices that no plan has. */
export async function readForNew(c: Visit): Promise<{ catalog: Feature[]; unmapped: Unmapped[] }> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const read = await batch(db, { catalog: listFeatures(db, project), unmapped: unmappedPrices(db, project) })
  return can(c, 'billing:read') ? read : { ...read, unmapped: [] }
}

/** Reads the plan in the path, and the catalog. @throws {Fault} `not_found` */
export async function readPlan(c: Visit) {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const id = c.req.param('plan') ?? ''
  const { rows, refs, catalog, settings } = await batch(db, {
    rows: findPlan(db, project, id),
    refs: mappedPrices(db, project, id),
    catalog: listFeatures(db, project),
    settings: findSettings(db, project),
  })
  const plan = requireFound(withPrices(rows, refs), 'Plan')
  const { default_plan, test_mode_counts } = settings[0]?.settings ?? {}
  return { plan, catalog, isDefault: default_plan === plan.id, testModeCounts: test_mode_counts === true }
}

/** What a price costs, in words; null if that is not known, or not shown to the user. */
export type Amounts = (price: Price) => string | null

/** What prices cost, from what {@link amountsOfPrices} reads. */
export function amountsIn(c: Visit, costs: readonly PricedRef[]): Amounts {
  const seesBilling = can(c, 'billing:read')
  return ({ vendor, ref }) => {
    const found = seesBilling && costs.find((one) => one.vendor === vendor && one.ref === ref)
    return found ? priceOf(found.price) : null
  }
}

/** How many subscriptions a plan has. `complete`: whether there are no more. */
export type Subscriptions = (plan: string) => Omit<PlanCount, 'plan'> & { complete: boolean }

/** How many subscriptions plans have, from what {@link countByPlan} reads; null if that is not shown to the user. */
export function subscriptionsIn(
  c: Visit,
  [counted]: Results<{ of: ReturnType<typeof countByPlan> }>['of'],
): Subscriptions | null {
  if (!can(c, 'billing:read') || !counted) return null
  const byPlan = new Map(counted.plans.map((one) => [one.plan, one]))
  return (plan) => ({ live: 0, test: 0, ...byPlan.get(plan), complete: counted.complete })
}

/** Reads what prices cost, and how many subscriptions plans have. */
export async function readSold(c: Visit): Promise<{ amounts: Amounts; subscriptions: Subscriptions | null }> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { costs, counted } = await batch(db, {
    costs: amountsOfPrices(db, project),
    counted: countByPlan(db, project),
  })
  return { amounts: amountsIn(c, costs), subscriptions: subscriptionsIn(c, counted) }
}

/** Reads the latest changes of a plan, with what each of them changed, if that is known; null if the user may not see them. */
export async function readHistory(c: Visit, plan: Plan, catalog: readonly Feature[]): Promise<NamedEntry[] | null> {
  if (!can(c, 'audit_log:read')) return null
  const rt = c.get('rt')
  const project = projectOf(c.get('actor'))
  const list = auditPaging('console/plans/history', { object_id: plan.id, limit: HISTORY })
  const { rows, revisions } = await batch(rt.db, {
    rows: listAudit(rt.db, project, list.filters, list.at),
    revisions: listRevisions(rt.db, { project_id: project, id: plan.id }, HISTORY),
  })
  const entries = list.page(rows, await readPeople(rt, null, rows)).data
  return entries.map((entry) => {
    const change = changeAt(plan, revisions, idTime(entry.id))
    return { ...entry, differences: change ? differencesOf(...change, catalog) : undefined }
  })
}

/**
 * A plan before and after the change of a time (ms), which is when it replaced a revision.
 *
 * @returns null if either is not kept, or two changes have this time
 */
function changeAt(plan: Plan, revisions: readonly Revision[], at: number): [WantedPlan, WantedPlan] | null {
  const [replaced, another] = revisions.filter(({ until }) => until === at)
  if (!replaced?.document || another) return null
  const next = replaced.revision + 1
  const after = next === plan.revision ? plan : revisions.find(({ revision }) => revision === next)?.document
  return after ? [replaced.document, after] : null
}

/** @throws {Fault} `price_mapped` if another plan has one of the prices */
export async function requireFreePrices(c: Visit, { id }: Plan, prices: readonly Price[]): Promise<void> {
  const { db } = c.get('rt')
  requireFree(await run(db, plansOfPrices(db, projectOf(c.get('actor')), prices)), id)
}

/** What a change of a plan would make of consumers. @param cursor where an earlier preview ended */
export async function readPreview(
  c: Visit,
  { id }: Plan,
  wanted: WantedPlan,
  cursor: string | undefined,
): Promise<ShownPreview> {
  const rt = c.get('rt')
  const of = { project_id: projectOf(c.get('actor')), id }
  const ask = previewPlan.bind(null, { rt, ask: (queries) => batch(rt.db, queries) }, of, wanted)
  let sum = await ask(cursor)
  for (let calls = 1; sum.next_cursor !== null && calls < PREVIEWS; calls++) {
    const next = await ask(sum.next_cursor)
    sum = {
      ...next,
      examined: sum.examined + next.examined,
      affected: sum.affected + next.affected,
      gains: added(sum.gains, next.gains),
      losses: added(sum.losses, next.losses),
      reductions: added(sum.reductions, next.reductions),
      changes: sum.changes.length > 0 ? sum.changes : next.changes,
    }
  }
  const named = await readNamed(
    rt,
    of.project_id,
    sum.changes.map(({ consumer }) => consumer),
  )
  return { ...sum, names: new Map([...named].map(([id, { name }]) => [id, name])) }
}

function added(a: Record<string, number>, b: Record<string, number>): Record<string, number> {
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...keys].map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]))
}
