import { findObject, findTrace } from '../../../billing/read/store'
import { batch, type Db, type Query } from '../../../db/client'
import type { EventRow } from '../../../inbox/events/events'
import { vendorOf } from '../../../vendors'
import { projectPaths } from '../../paths'

/** The pages of the objects that an event refers to. */
export type Links = { customer?: string; subscription?: string; invoice?: string }

/** Links an event to its customer, subscription and invoice, to each only if it is known. */
export async function linksOf(db: Db, { project_id, vendor, summary }: EventRow): Promise<Links> {
  if (!summary || !vendorOf(vendor)?.snapshots) return {}
  const { billing } = projectPaths(project_id)
  const { customer, subscription, invoice } = summary
  const wanted: Record<string, { at: string; query: Query<unknown[]> }> = {}
  if (customer !== null) {
    wanted.customer = {
      at: `customers/${vendor}/${encodeURIComponent(customer)}`,
      query: findTrace(db, project_id, { vendor, id: customer }),
    }
  }
  for (const [kind, id] of [
    ['subscription', subscription],
    ['invoice', invoice],
  ] as const) {
    if (id === null) continue
    wanted[kind] = {
      at: `${kind}s/${encodeURIComponent(id)}?vendor=${vendor}`,
      query: findObject(db, project_id, { kind, id, vendor }),
    }
  }
  const names = Object.entries(wanted)
  if (names.length === 0) return {}
  const found = await batch(db, Object.fromEntries(names.map(([name, { query }]) => [name, query])))
  const known = names.filter(([name]) => (found[name] ?? []).length > 0)
  return Object.fromEntries(known.map(([name, { at }]) => [name, `${billing}/${at}`]))
}
