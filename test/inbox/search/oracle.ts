import { STATUSES } from '../../../src/inbox/lifecycle'
import { freshReader, insertConnection, insertEvents, type Seed, seedEvent } from '../seeding'

/* What a search has to find, by looking at every event there is; and events of every mix of what can be searched for. */

export const BASE = Date.parse('2026-05-04T10:00:00.000Z')

export const TYPES = [
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.created',
  'customer',
  'customers.merged',
  'CUSTOMER.created',
  'invoice.paid',
  'invoice%paid',
  'invoice_paid',
  'invoiceXpaid',
  'zahlung.größe',
  'a"quoted","type',
]
const ERRORS = [
  null,
  null,
  null,
  'the amount is 100% wrong',
  'the amount is 100 times wrong',
  'object_id is missing',
  'objectXid is missing',
  'No Such Currency',
  'Échec du paiement',
]
export const REFS = ['cus_1', 'cus_2', 'sub_1', 'cus%', 'cus_%']

/** The codes of the errors. Some errors are from before codes were recorded. */
export const CODES = [null, 'payload_invalid', 'vendor_failed', 'internal_error'] as const

const REPLAYS = [null, null, 'rpl_1', 'rpl_2']

export type Vendors = Record<string, { vendor: string; livemode: boolean }>

/** Connections of every kind, and events of every mix of what can be searched for. */
export async function oracleWorld(count: number) {
  const { project, read } = await freshReader()
  const vendors: Vendors = {}
  for (const [vendor, livemode, deleted] of [
    ['stripe', true, false],
    ['stripe', false, false],
    ['paddle', true, false],
    ['shopify', false, true],
  ] as const) {
    vendors[await insertConnection(project, vendor, { livemode, deleted })] = { vendor, livemode }
  }
  const quiet = await insertConnection(project, 'recurly')
  const connections = Object.keys(vendors)
  const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T
  const events = Array.from({ length: count }, (_, i) => {
    const mix = (i * 2654435761) >>> 4
    const last_error = pick(ERRORS, mix >>> 9)
    return seedEvent({
      received_at: BASE + Math.floor(i / 3) * 1000, // three at a time share their millisecond
      connection: pick(connections, mix),
      vendor_event_id: `evt_${i}`,
      event_type: pick(TYPES, mix >>> 3),
      status: pick(STATUSES, mix >>> 5),
      attempts: (mix >>> 7) % 5,
      last_error,
      last_error_code: last_error === null ? null : pick(CODES, mix >>> 13),
      replay_id: pick(REPLAYS, mix >>> 16),
      refs: REFS.filter((_, bit) => ((mix >>> 11) >> bit) % 2 === 1),
    })
  })
  await insertEvents(project, events)
  return { project, read, vendors, connections, quiet, events }
}

export type Query = {
  id?: string[]
  event_type?: string[]
  status?: string[]
  vendor?: string
  connection_id?: string
  vendor_event_id?: string
  ref?: string
  received_after?: string
  received_before?: string
  min_attempts?: number
  error?: string
  error_code?: string
  replay_id?: string
  livemode?: boolean
  order?: 'asc' | 'desc'
}

export function pathOf(query: Query): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) parameters.append(name, String(one))
  }
  return `/search?view=summary&${parameters}`
}

const lower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** What a search has to find: by looking at every event there is. */
export function expected(events: readonly Seed[], vendors: Vendors, query: Query): string[] {
  const found = events.filter((event) => {
    const of = vendors[event.connection]
    return (
      (query.id === undefined || query.id.includes(event.id)) &&
      (query.event_type === undefined ||
        query.event_type.some((type) =>
          type.endsWith('*') ? event.event_type.startsWith(type.slice(0, -1)) : event.event_type === type,
        )) &&
      (query.status === undefined || query.status.includes(event.status)) &&
      (query.vendor === undefined || of?.vendor === query.vendor) &&
      (query.livemode === undefined || of?.livemode === query.livemode) &&
      (query.connection_id === undefined || event.connection === query.connection_id) &&
      (query.vendor_event_id === undefined || event.vendor_event_id === query.vendor_event_id) &&
      (query.ref === undefined || event.refs.includes(query.ref)) &&
      (query.received_after === undefined || event.received_at >= Date.parse(query.received_after)) &&
      (query.received_before === undefined || event.received_at < Date.parse(query.received_before)) &&
      (query.min_attempts === undefined || event.attempts >= query.min_attempts) &&
      (query.error === undefined || lower(event.last_error ?? '').includes(lower(query.error))) &&
      (query.error_code === undefined || event.last_error_code === query.error_code) &&
      (query.replay_id === undefined || event.replay_id === query.replay_id)
    )
  })
  const ids = found.map(({ id }) => id).sort()
  return query.order === 'asc' ? ids : ids.reverse()
}

export const idsOf = (pages: { data: { id: string }[] }[]) => pages.flatMap(({ data }) => data.map(({ id }) => id))
export const at = (ms: number) => new Date(ms).toISOString()
