import { findObject } from '../../../billing/store'
import type { Db } from '../../../db/client'
import type { presentEvent } from '../../../inbox/events/present'
import type { EventRow } from '../../../inbox/events/store'
import { vendorOf } from '../../../vendors'
import { projectPaths } from '../../paths'

/** What processing has read from an event; null until then. */
export type Decoded = ReturnType<typeof presentEvent>['decoded_summary']

/** Where the pages are of what an event names, for what has one. */
export type Links = { customer?: string; subscription?: string }

/** Where the billing state has what an event names: its customer's subscriptions, its subscription. */
export async function linksOf(db: Db, row: EventRow, decoded: Decoded): Promise<Links> {
  const { customer, subscription } = decoded ?? {}
  if (!vendorOf(row.vendor)?.snapshots) return {}
  const list = `${projectPaths(row.project_id).billing}/subscriptions`
  const links = { customer: `${list}?customer=${encodeURIComponent(customer ?? '')}` }
  const found = subscription && (await findObject(db, row.project_id, 'subscription', subscription, row.vendor))
  return found ? { ...links, subscription: `${list}/${encodeURIComponent(subscription)}?vendor=${row.vendor}` } : links
}
