import { must } from '../../../scripts/lib/api.ts'
import { sleep } from '../../../scripts/lib/terminal.ts'
import { checkFeed } from './feed.ts'
import { digest, lastOf, type Tenant } from './ledger.ts'
import { mustBeDead, mustNotSign, type Run } from './load.ts'

type Recorded = {
  id: string
  vendor_event_id: string
  status: string
  deliveries: number
  /** Of the payload; in place of `raw_payload_b64`, so that not all payloads are held. */
  digest: string
  decoded_summary: { effects: unknown[] } | null
}
type Listed = Omit<Recorded, 'digest'> & { raw_payload_b64: string }
type Page<T> = { data: T[]; next_cursor: string | null }
type Row = {
  id: string
  source_event_id: string
  ambiguous: boolean
  total?: number
  items?: { quantity: number }[]
}
type Health = { counts: Record<string, number>; reasons: string[] }
/** The totals of a tenant at the end, one column each. */
export type Balance = {
  tenant: string
  taken: number
  deliveries: number
  /** Events of deliveries of many. */
  inBulk: number
  recorded: number
  processed: number
  objects: number
  /** The total of all open invoices: as the vendor sent it, and as the API reports it. */
  owed: number
  told: number
  dead: number
  /** Changes of the feed. */
  changes: number
  consumers: number
}

const OPEN = ['received', 'processing', 'retrying', 'queued']

/** Events that are not final yet. */
export async function openOf({ url }: Run, { token, project }: Tenant): Promise<number> {
  const { counts } = await must<Health>(`${url}/platform/v1/billing/webhooks/health`, { token, project })
  return OPEN.reduce((sum, status) => sum + (counts[status] ?? 0), 0)
}

/** Waits until no event is open. @returns the number of events that are still open when the time is up */
export async function settled(run: Run, tenants: readonly Tenant[], withinMs: number): Promise<number> {
  for (const until = Date.now() + withinMs; ; await sleep(5000)) {
    let open = 0
    for (const tenant of tenants) open += await openOf(run, tenant)
    console.log(`  ${open} open`)
    if (open === 0 || Date.now() > until) return open
  }
}

/** Compares the data in the API with what was sent. Every difference is added to `run.broken`. */
export async function check(run: Run, tenant: Tenant): Promise<Balance> {
  const { token, project } = tenant
  const as = { token, project }
  const api = `${run.url}/platform/v1/billing`
  const wrong = (what: string) => run.broken.push(`${tenant.name}: ${what}`)
  const recorded = await all(
    `${api}/webhooks`,
    as,
    ({ raw_payload_b64, ...row }: Listed): Recorded => ({
      ...row,
      digest: digest(Buffer.from(raw_payload_b64, 'base64')),
    }),
  )
  const byVendorId = new Map<string, Recorded[]>()
  for (const one of recorded) {
    byVendorId.set(one.vendor_event_id, [...(byVendorId.get(one.vendor_event_id) ?? []), one])
  }
  const { taken, deliveries } = checkSent(tenant, byVendorId, wrong)
  const inBulk = checkBulks(tenant, byVendorId, wrong)
  const known = new Set([
    ...tenant.sent.map(({ vendorId }) => vendorId),
    ...tenant.bulks.flatMap((bulk) => bulk.vendorIds),
  ])
  for (const { vendor_event_id } of recorded)
    if (!known.has(vendor_event_id)) wrong(`${vendor_event_id} was never sent`)
  const { objects, owed, told } = await checkObjects(api, tenant, byVendorId, wrong)
  for (const key of tenant.deadKeys) {
    if ((await mustBeDead(run, tenant, key)) !== 401) wrong('a dead key did not get 401')
  }
  for (const secret of tenant.deadSigning) {
    if ((await mustNotSign(run, tenant, secret)) !== 401) wrong('a removed signing secret did not get 401')
  }
  const changes = await checkFeed(run, tenant)
  const consumers = await checkConsumers(run, tenant)
  const processed = recorded.filter(({ status }) => status === 'processed').length
  const dead = tenant.deadKeys.length + tenant.deadSigning.length
  return {
    tenant: tenant.name,
    taken,
    deliveries,
    inBulk,
    recorded: recorded.length,
    processed,
    objects,
    owed,
    told,
    dead,
    changes,
    consumers,
  }
}

/** Checks that each consumer that was created is there once. */
async function checkConsumers({ url, broken }: Run, { name, token, project, consumers }: Tenant): Promise<number> {
  const listed = (await all<{ id: string }>(`${url}/platform/v1/consumers`, { token, project })).map(({ id }) => id)
  const made = new Set(consumers)
  if (listed.length !== made.size || listed.some((id) => !made.has(id)))
    broken.push(`${name}: ${listed.length} consumers instead of ${made.size}`)
  return listed.length
}

/** Checks that each event that got a 2xx is recorded once, with its bytes, and done. @returns how many got one */
function checkSent(tenant: Tenant, recorded: ReadonlyMap<string, Recorded[]>, wrong: (what: string) => void) {
  let taken = 0
  let deliveries = 0
  for (const { vendorId, receipts, body } of tenant.sent) {
    const rows = recorded.get(vendorId) ?? []
    if (receipts.length === 0) continue // It never got a 2xx, so it may be missing.
    taken += 1
    deliveries += receipts.length
    const [row] = rows
    if (!row) wrong(`${vendorId} got a 2xx but is not recorded`)
    else if (rows.length > 1) wrong(`${vendorId} is recorded ${rows.length} times`)
    else if (receipts.some((id) => id !== row.id)) wrong(`${vendorId} got more than one id`)
    else if (row.digest !== digest(body)) wrong(`${vendorId} has different bytes`)
    else if (row.status !== 'processed') wrong(`${vendorId} is ${row.status}`)
    else if (row.deliveries < receipts.length)
      wrong(`${vendorId}: ${row.deliveries} deliveries instead of ${receipts.length}`)
    else if (row.decoded_summary?.effects.length !== 1) wrong(`${vendorId} must have exactly one effect`)
  }
  return { taken, deliveries }
}

/**
 * Checks that each event of a delivery of many is recorded once, with the bytes of the whole delivery, and done.
 *
 * @returns how many got a 2xx
 */
function checkBulks(tenant: Tenant, recorded: ReadonlyMap<string, Recorded[]>, wrong: (what: string) => void): number {
  let taken = 0
  for (const { vendorIds, body, receipts } of tenant.bulks) {
    if (receipts.length === 0) continue
    taken += vendorIds.length
    const sent = digest(body)
    for (const [i, vendorId] of vendorIds.entries()) {
      const [row, ...others] = recorded.get(vendorId) ?? []
      if (!row || others.length > 0) wrong(`${vendorId} of many is recorded ${row ? others.length + 1 : 0} times`)
      else if (receipts.some((ids) => ids[i] !== row.id)) wrong(`${vendorId} of many got another id`)
      else if (row.digest !== sent) wrong(`${vendorId} of many has different bytes`)
      else if (row.status !== 'ignored') wrong(`${vendorId} of many is ${row.status}`)
    }
  }
  return taken
}

/** Checks that every object has the state of its last event, and that its timeline has each of its events once. */
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
    if (!row) wrong(`${object} is missing`)
    else if (row.source_event_id !== source?.id) wrong(`${object} does not have the state of its last event`)
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
      wrong(`${object}: ${timeline.length} timeline entries for ${events} events`)
    }
  }
  if (rows.size !== last.size) wrong(`${rows.size} objects instead of ${last.size}`)
  if (owed !== told) wrong(`invoices total ${told} instead of ${owed}`)
  return { objects: rows.size, owed, told }
}

/** Reads every row of a list, page by page. @param kept what is kept of a row */
async function all<T, K = T>(
  path: string,
  as: { token: string; project: string },
  kept: (row: T) => K = (row) => row as unknown as K,
): Promise<K[]> {
  const rows: K[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page: Page<T> = await must(`${path}?limit=100${query}`, as)
    rows.push(...page.data.map(kept))
    cursor = page.next_cursor
  } while (cursor !== null)
  return rows
}
