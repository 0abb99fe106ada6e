import { type Env, openRuntime } from '../../src/env'
import { FINAL_STATUSES, type Status } from '../../src/inbox/lifecycle'
import { newId } from '../../src/lib/ids'
import { seal, sealContext } from '../../src/lib/seal'
import type { EventErrorCode } from '../../src/vendors/event-errors'
import { type Answer, bound, call, freshKey, STORE } from '../harness'

/** An event to be put into the database as the pipeline would have left it. */
export type Seed = {
  id: string
  received_at: number
  connection: string
  vendor_event_id: string
  event_type: string
  status: Status
  attempts: number
  last_error: string | null
  last_error_code: EventErrorCode | null
  replay_id: string | null
  refs: string[]
  lease_until: number | null
}

let seeds = 0

/** An event with what matters to a test; the rest as of an event that was processed at its first try. */
export function seedEvent(fields: Partial<Seed> & Pick<Seed, 'connection' | 'received_at'>): Seed {
  seeds += 1
  return {
    id: newId('evt', fields.received_at),
    vendor_event_id: `evt_seed_${seeds}`,
    event_type: 'customer.updated',
    status: 'processed',
    attempts: 1,
    last_error: null,
    last_error_code: null,
    replay_id: null,
    refs: [],
    lease_until: null,
    ...fields,
  }
}

/** Inserts events with their refs, many a statement. Payloads are left to the test that wants some. */
export async function insertEvents(project: string, events: readonly Seed[]): Promise<void> {
  for (let from = 0; from < events.length; from += 1000) {
    const chunk = events.slice(from, from + 1000).map((event) => ({
      ...event,
      payload_id: event.id.replace('evt_', 'pay_'),
      due_at: (FINAL_STATUSES as readonly string[]).includes(event.status) ? null : event.received_at + 30_000,
      processed_at: event.status === 'processed' || event.status === 'ignored' ? event.received_at + 120 : null,
    }))
    const list = JSON.stringify(chunk)
    await STORE.batch([
      STORE.prepare(
        `INSERT INTO events (project_id, id, connection_id, vendor_event_id, event_type, payload_id, status, due_at, lease_token,
          lease_until, attempts, last_delivered_at, processed_at, last_error,
          last_error_code, replay_id)
        SELECT ?1, value->>'id', value->>'connection', value->>'vendor_event_id', value->>'event_type', value->>'payload_id',
          value->>'status', value->>'due_at', CASE WHEN value->>'lease_until' IS NOT NULL THEN 'lse_seed' END, value->>'lease_until',
          value->>'attempts', value->>'received_at', value->>'processed_at', value->>'last_error',
          value->>'last_error_code', value->>'replay_id' FROM json_each(?2)`,
      ).bind(project, list),
      STORE.prepare(
        `INSERT INTO refs SELECT ?1, r.value, e.value->>'id' FROM json_each(?2) e CROSS JOIN json_each(e.value, '$.refs') r`,
      ).bind(project, list),
    ])
  }
}

/** A rollup, of which a test says what matters. */
export type SeedMinute = { minute: number; connection: string } & Partial<
  Record<'received' | 'processed' | 'ignored' | 'failed' | 'duplicates' | 'lag_sum' | 'lag_max', number>
> & { lag?: Record<string, number>; refused?: Record<string, number> }

/** Inserts rollups, as ingest and finish would have left them. */
export async function insertMinutes(project: string, minutes: readonly SeedMinute[]): Promise<void> {
  for (let from = 0; from < minutes.length; from += 1000) await insertSome(project, minutes.slice(from, from + 1000))
}

async function insertSome(project: string, minutes: readonly SeedMinute[]): Promise<void> {
  await STORE.prepare(
    `INSERT INTO minutes SELECT ?1, value->>'minute', value->>'connection', coalesce(value->>'received', 0),
        coalesce(value->>'duplicates', 0), coalesce(value->'refused', '{}'), coalesce(value->>'processed', 0),
        coalesce(value->>'ignored', 0), coalesce(value->>'failed', 0), coalesce(value->'lag', '{}'),
        coalesce(value->>'lag_sum', 0), coalesce(value->>'lag_max', 0) FROM json_each(?2)`,
  )
    .bind(project, JSON.stringify(minutes))
    .run()
}

/** Inserts a connection, as connecting would have. */
export async function insertConnection(
  project: string,
  vendor: string,
  options: { livemode?: boolean; deleted?: boolean; disabled?: boolean; secrets?: number } = {},
): Promise<string> {
  const now = Date.now()
  const id = newId('con', now)
  const { livemode = true, deleted = false, disabled = false, secrets = 1 } = options
  const { encryptionKeys } = openRuntime(bound, { waitUntil: () => {} }).settings
  const sealed = await Promise.all(
    Array.from({ length: secrets }, async (_, n) => ({
      id: `sec_${n}`,
      hint: '',
      created_at: now,
      ...(await seal(encryptionKeys, `whsec_${n}`, sealContext(project, id, `sec_${n}`))),
    })),
  )
  await STORE.prepare(
    `INSERT INTO connections (id, project_id, vendor, name, livemode, secrets, created_at, deleted_at, status)
      VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8)`,
  )
    .bind(
      ...[id, project, vendor, Number(livemode), JSON.stringify(sealed), now],
      ...[deleted ? now : null, disabled ? 'disabled' : 'active'],
    )
    .run()
  return id
}

/** Gives an event its payload, in parts that a statement can bind. */
export async function insertPayload(project: string, event: Seed, body: string | ArrayBuffer): Promise<void> {
  const id = event.id.replace('evt_', 'pay_')
  const parts = typeof body === 'string' ? (body.match(/[\s\S]{1,300000}/gu) ?? ['']) : [body]
  await STORE.batch(
    parts.map((part) =>
      STORE.prepare(
        `INSERT INTO bodies (project_id, id, body) VALUES (?, ?, ?)
          ON CONFLICT DO UPDATE SET body = body || excluded.body`,
      ).bind(project, id, part),
    ),
  )
}

const LIMIT_CREDENTIAL = { limit: async () => ({ success: true }) } as unknown as RateLimit

/** A fresh project with a way to ask for what lies under its webhooks; its key is not limited. */
export async function freshReader() {
  const { project, owner, secret } = await freshKey()
  const read = (path: string, bindings: Partial<Env> = {}): Promise<Answer> =>
    call(`/platform/v1/billing/webhooks${path}`, {
      token: secret,
      project,
      bindings: { LIMIT_CREDENTIAL, ...bindings },
    })
  return { project, owner, secret, read }
}
export type Reader = Awaited<ReturnType<typeof freshReader>>['read']

/** Reads page after page to the last one. */
export async function walk(read: Reader, path: string, limit: number): Promise<Answer['body'][]> {
  const pages: Answer['body'][] = []
  let cursor: string | null = null
  do {
    const join = path.includes('?') ? '&' : '?'
    const { status, body }: Answer = await read(
      `${path}${join}limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`,
    )
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`)
    pages.push(body)
    cursor = body.next_cursor
    if (pages.length > 2000) throw new Error(`${path} does not end`)
  } while (cursor !== null)
  return pages
}
