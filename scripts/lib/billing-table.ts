import { ask, must } from './api.ts'
import type { EventRecord, Inbox } from './deliver.ts'
import { printTable } from './terminal.ts'

/** The most objects that are printed. */
const MAX_ROWS = 100
const PATHS = {
  subscription: 'subscriptions',
  invoice: 'invoices',
  payment_method: 'payment-methods',
  purchase: 'purchases',
}
type Kind = keyof typeof PATHS

type Item = { price: string | null; quantity: number | null }
type Row = {
  id: string
  status: string
  vendor_status: string | null
  customer: string | null
  ambiguous: boolean
  source_event_id: string
  currency?: string | null
  total?: number | null
  amount_paid?: number | null
  refunded_amount?: number | null
  items?: Item[]
  current_period_end?: string | null
  card?: { brand: string | null; last4: string | null } | null
}

/** Prints the current state of the billing objects that the events changed. */
export async function printBilling(inbox: Inbox, events: Iterable<EventRecord>): Promise<void> {
  const objects = new Map<string, { kind: Kind; id: string }>()
  const types = new Map<string, string>()
  for (const { id, event_type, decoded_summary } of events) {
    types.set(id, event_type)
    for (const { kind: named, id, result } of decoded_summary?.effects ?? []) {
      // Of a payment whose sale is not known, there is nothing to print.
      if (result === 'unplaced') continue
      // The path of a customer names the vendor too: it is printed by the objects that name it.
      if (named === 'customer' || named === 'customer_link' || named === 'checkout') continue
      const kind = named === 'payment_card' ? 'payment_method' : named
      objects.set(`${kind} ${id}`, { kind, id })
    }
  }
  if (objects.size === 0) return
  const rows: string[][] = []
  for (const { kind, id } of [...objects.values()].slice(0, MAX_ROWS)) {
    const { url, token, project, vendor } = inbox
    const path = `${PATHS[kind]}/${encodeURIComponent(id)}?vendor=${vendor}`
    const address = `${url}/platform/v1/billing/${path}`
    // Payments carry card details, but the payment method itself may never get an event: a one-off payment keeps none.
    if (kind === 'payment_method' && (await ask(address, { token, project })).status === 404) {
      rows.push([kind, id, 'not listed', '', 'only its card is known', ''])
      continue
    }
    const row: Row = await must(address, { token, project })
    const status =
      row.vendor_status && row.vendor_status !== row.status ? `${row.status} (${row.vendor_status})` : row.status
    const source = types.get(row.source_event_id) ?? row.source_event_id
    rows.push([kind, id, status, row.customer ?? '', whatOf(row), row.ambiguous ? 'ambiguous' : source])
  }
  console.log('\nThe resulting billing state:\n')
  printTable(['object', 'id', 'status', 'customer', 'details', 'source'], rows)
  if (objects.size > MAX_ROWS) console.log(`… and ${objects.size - MAX_ROWS} more.`)
}

function whatOf({ items, current_period_end, total, amount_paid, refunded_amount, currency, card }: Row): string {
  if (items && refunded_amount === undefined) {
    const list = items.map(({ price, quantity }) => `${quantity ?? '?'} × ${price ?? '?'}`).join(', ')
    return `${list} until ${current_period_end ?? '?'}`
  }
  // Purchases and invoices say what went back.
  if (refunded_amount !== undefined)
    return `total ${total ?? '?'}, went back ${refunded_amount ?? '?'} ${currency ?? ''}`
  if (total !== undefined) return `total ${total ?? '?'}, paid ${amount_paid ?? '?'} ${currency ?? ''}`
  return card ? `${card.brand ?? '?'} …${card.last4 ?? '?'}` : ''
}
