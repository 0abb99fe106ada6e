import { findObject } from '../../../billing/read/store'
import { type Db, run } from '../../../db/client'
import type { EventRow } from '../../../inbox/events/store'
import { vendorOf } from '../../../vendors'
import { projectPaths } from '../../paths'

/** What was decoded from an event; null until the event is processed. */
export type Decoded = EventRow['summary']

/** The pages of the objects that an event refers to. */
export type Links = { customer?: string; subscription?: string }

/** Links an event to its customer's subscriptions and, if we know it, to its subscription. */
export async function linksOf(db: Db, row: EventRow, decoded: Decoded): Promise<Links> {
  const { customer, subscription } = decoded ?? {}
  if (!vendorOf(row.vendor)?.snapshots) return {}
  const list = `${projectPaths(row.project_id).billing}/subscriptions`
  const links = { customer: `${list}?customer=${encodeURIComponent(customer ?? '')}` }
  if (!subscription) return links
  const found = await run(
    db,
    findObject(db, row.project_id, { kind: 'subscription', id: subscription, vendor: row.vendor }),
  )
  return found.length > 0
    ? { ...links, subscription: `${list}/${encodeURIComponent(subscription)}?vendor=${row.vendor}` }
    : links
}
