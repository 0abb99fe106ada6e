import { presentObject } from '../../../billing/read/present'
import type { ObjectRow } from '../../../billing/read/store'
import type { Named } from '../../../entitlements/named'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { planIn } from './columns'
import { invoices } from './invoices'
import type { ObjectList } from './object-list'
import { paymentMethods } from './payment-methods'
import { purchases } from './purchases'
import { subscriptions } from './subscriptions'

const LISTS: { [K in ObjectKind]: ObjectList<K> } = {
  subscription: subscriptions,
  invoice: invoices,
  payment_method: paymentMethods,
  purchase: purchases,
}

/** Whether objects of a kind have pages. */
export const hasPage = (kind: string): kind is ObjectKind => Object.hasOwn(LISTS, kind)

/** What objects are called on their pages, by their ids: those that are not called by them. @param rows read with their plans beside them */
export function titlesOf(rows: readonly ObjectRow[]): Map<string, string> {
  const entries = rows.map((row) => [row.vendor_id, row.body && hasPage(row.kind) && titleOf(row.kind, row)] as const)
  return new Map(entries.flatMap(([id, title]) => (title ? [[id, title]] : [])))
}

function titleOf<K extends ObjectKind>(kind: K, row: ObjectRow): string | null {
  return LISTS[kind].titleOf(presentObject(kind, row), (item) => planIn(row.beside as Named, item)?.name)
}
