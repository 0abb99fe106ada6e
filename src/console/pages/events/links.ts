import { findObject } from '../../../billing/read/store'
import { batch, type Db } from '../../../db/client'
import type { EventRow } from '../../../inbox/events/store'
import { vendorOf } from '../../../vendors'
import { projectPaths } from '../../paths'

/** The pages of the objects that an event refers to. */
export type Links = { customer?: string; subscription?: string; invoice?: string }

/** Links an event to its customer's subscriptions and, if we know them, to its subscription and invoice. */
export async function linksOf(db: Db, { project_id, vendor, summary }: EventRow): Promise<Links> {
  if (!summary || !vendorOf(vendor)?.snapshots) return {}
  const { billing } = projectPaths(project_id)
  const { customer, subscription, invoice } = summary
  const named = [
    { kind: 'subscription', part: 'subscriptions', id: subscription },
    { kind: 'invoice', part: 'invoices', id: invoice },
  ] as const
  const wanted = named.flatMap((one) => (one.id === null ? [] : [{ ...one, id: one.id }]))
  const queries = wanted.map(({ kind, id }) => [kind, findObject(db, project_id, { kind, id, vendor })] as const)
  const found = queries.length > 0 ? await batch(db, Object.fromEntries(queries)) : {}
  const known = wanted.filter(({ kind }) => (found[kind] ?? []).length > 0)
  return {
    ...(customer && { customer: `${billing}/subscriptions?customer=${encodeURIComponent(customer)}` }),
    ...Object.fromEntries(
      known.map(({ kind, part, id }) => [kind, `${billing}/${part}/${encodeURIComponent(id)}?vendor=${vendor}`]),
    ),
  }
}
