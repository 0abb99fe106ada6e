import { must } from '../api.ts'
import { sleep } from '../terminal.ts'
import { lastOf, type Tenant } from './ledger.ts'
import { mustBeDead, mustNotSign, type Run } from './load.ts'

type Recorded = {
  id: string
  vendor_event_id: string
  status: string
  deliveries: number
  raw_payload_b64: string
  decoded_summary: { effects: unknown[] } | null
}
type Page<T> = { data: T[]; next_cursor: string | null }
type Row = {
  id: string
  source_event_id: string
  ambiguous: boolean
  total?: number
  items?: { quantity: number }[]
}
type Health = { counts: Record<string, number>; reasons: string[] }
/** What a tenant's books say at the end, one column each. */
export type Balance = {
  tenant: string
  taken: number
  deliveries: number
  recorded: number
  processed: number
  objects: number
  /** The sum of what open invoices ask for: as the vendor sent it, and as the API says it. */
  owed: number
  told: number
  dead: number
}

const OPEN = ['received', 'processing', 'retrying', 'queued']

/** Events that are not final yet. */
export async function openOf({ url }: Run, { token, project }: Tenant): Promise<number> {
  const { counts } = await must<Health>(`${url}/platform/v1/billing/webhooks/health`, { token, project })
  return OPEN.reduce((sum, status) => sum + (counts[status] ?? 0), 0)
}

/** Waits until nothing is open any more. */
export async function settled(run: Run, tenants: readonly Tenant[], withinMs: number): Promise<number> {
  for (const until = Date.now() + withinMs; ; await sleep(5000)) {
    let open = 0
    for (const tenant of tenants) open += await openOf(run, tenant)
    console.log(`  ${open} open`)
    if (open === 0 || Date.now() > until) return open
  }
}

/** Holds what the API says against what was sent. Everything that does not agree is added to `run.broken`. */
export async function check(run: Run, tenant: Tenant): Promise<Balance> {
  const { token, project } = tenant
  const as = { token, project }
  const api = `${run.url}/platform/v1/billing`
  const wrong = (what: string) => run.broken.push(`${tenant.name}: ${what}`)
  const recorded = await all<Recorded>(`${api}/webhooks`, as)
  const byVendorId = new Map<string, Recorded[]>()
  for (const one of recorded) {
    byVendorId.set(one.vendor_event_id, [...(byVendorId.get(one.vendor_event_id) ?? []), one])
  }
  let taken = 0
  let deliveries = 0
  for (const { vendorId, receipts, body } of tenant.sent) {
    const rows = byVendorId.get(vendorId) ?? []
    if (receipts.length === 0) continue // never answered 2xx: nothing was promised
    taken += 1
    deliveries += receipts.length
    const [row] = rows
    if (!row) wrong(`${vendorId} was answered 2xx and is not recorded`)
    else if (rows.length > 1) wrong(`${vendorId} is recorded ${rows.length} times`)
    else if (receipts.some((id) => id !== row.id)) wrong(`${vendorId} was answered with more than one id`)
    else if (!Buffer.from(row.raw_payload_b64, 'base64').equals(body)) wrong(`${vendorId} has other bytes`)
    else if (row.status !== 'processed') wrong(`${vendorId} is ${row.status}`)
    else if (row.deliveries < receipts.length) wrong(`${vendorId}: ${row.deliveries} deliveries of ${receipts.length}`)
    else if (row.decoded_summary?.effects.length !== 1) wrong(`${vendorId} has not one effect`)
  }
  const known = new Set(tenant.sent.map(({ vendorId }) => vendorId))
  for (const { vendor_event_id } of recorded)
    if (!known.has(vendor_event_id)) wrong(`${vendor_event_id} was never sent`)
  const { objects, owed, told } = await checkObjects(api, tenant, byVendorId, wrong)
  for (const key of tenant.deadKeys) {
    if ((await mustBeDead(run, tenant, key)) !== 401) wrong('a dead key was not answered 401')
  }
  for (const secret of tenant.deadSigning) {
    if ((await mustNotSign(run, tenant, secret)) !== 401) wrong('a removed signing secret was not answered 401')
  }
  const processed = recorded.filter(({ status }) => status === 'processed').length
  const dead = tenant.deadKeys.length + tenant.deadSigning.length
  return { tenant: tenant.name, taken, deliveries, recorded: recorded.length, processed, objects, owed, told, dead }
}

/** Every object is as its last event says, and each of its events stands in its timeline once. */
async function checkObjects(
  api: string,
  tenant: Tenant,
  recorded: ReadonlyMap<string, Recorded[]>,
  wrong: (what: string) => void,
): Promise<{ objects: number; owed: number; told: number }> {
  const { token, project } = tenant
  const as = { token, project }
  const rows = new Map<string, Row>()
  for (const kind of ['subscriptions', 'invoices']) {
    for (const row of await all<Row>(`${api}/${kind}`, as)) rows.set(row.id, row)
  }
  const last = lastOf(tenant)
  let owed = 0
  let told = 0
  for (const [object, event] of last) {
    const row = rows.get(object)
    const [source] = recorded.get(event.vendorId) ?? []
    if (!row) wrong(`${object} is not there`)
    else if (row.source_event_id !== source?.id) wrong(`${object} is not as its last event says`)
    else if (row.ambiguous) wrong(`${object} is ambiguous`)
    else if (event.kind === 'subscription' && row.items?.[0]?.quantity !== event.version) wrong(`${object}: quantity`)
    if (event.kind === 'invoice') {
      owed += event.amount
      told += row?.total ?? 0
    }
    const events = tenant.sent.filter((one) => one.object === object && recorded.has(one.vendorId)).length
    const path = `${api}/${event.kind}s/${object}/timeline`
    const timeline = (await all<{ event_id: string }>(path, as)).map(({ event_id }) => event_id)
    if (timeline.length !== events || new Set(timeline).size !== events) {
      wrong(`${object}: ${timeline.length} entries of ${events} events in its timeline`)
    }
  }
  if (rows.size !== last.size) wrong(`${rows.size} objects instead of ${last.size}`)
  if (owed !== told) wrong(`invoices ask for ${told} instead of ${owed}`)
  return { objects: rows.size, owed, told }
}

async function all<T>(path: string, as: { token: string; project: string }): Promise<T[]> {
  const rows: T[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Page<T> = await must(`${path}?limit=100${query}`, as)
    rows.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return rows
}
