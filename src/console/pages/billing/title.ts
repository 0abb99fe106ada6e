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
  const entries = rows.map((row) => [row.vendor_id, titleIn(row)] as const)
  return new Map(entries.flatMap(([id, title]) => (title ? [[id, title]] : [])))
}

/** What an object is called on its page; a customer as the vendor calls it. Null: by its id. */
export function titleIn(row: ObjectRow): string | null {
  const { kind, body } = row
  if (body === null) return null
  if (hasPage(kind)) return titleOf(kind, row)
  const { name, email } = body as { name?: string | null; email?: string | null }
  return name ?? email ?? null
}

function titleOf<K extends ObjectKind>(kind: K, row: ObjectRow): string | null {
  return LISTS[kind].titleOf(presentObject(kind, row), (item) => planIn(row.beside as Named, item)?.name)
}
