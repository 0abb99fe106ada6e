import { and, sql } from 'drizzle-orm'
import { audited, type Change, entriesOf } from '../../audit/store'
import { batch, type Db } from '../../db/client'
import { insertWhere } from '../../db/insert-where'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { keptWith } from '../../idempotency/claim'
import { Fault, requireFound } from '../../lib/fault'
import { newId } from '../../lib/ids'
import { vendorOf } from '../../vendors'
import { LISTED_KINDS, type ListedKind, type PaymentMethodsRead } from '../../vendors/calls'
import { findConnection } from '../connections/connection'
import { findVendorKey } from '../vendor-api/keys'
import { apiKeyMissing } from '../vendor-api/missing'
import { CONTINUED_WITHIN_MS } from './limits'
import { sendPage } from './message'
import { findRun, isOf, isOpen, isRunOf, listRuns, type RunKey, type RunRow } from './runs'
import { type KindProgress, type Kinds, vendorRuns } from './schema'

/** What an import is to read. `invoice_months`: how old invoices may be. */
type Asked = { kinds: readonly ListedKind[]; invoice_months: number; payment_methods: PaymentMethodsRead }

const importEntry = entriesOf('import')

/**
 * Begins an import, or continues the last one of the connection if that failed or was canceled within {@link CONTINUED_WITHIN_MS}.
 *
 * @throws {Fault} `not_found`; `api_key_missing` if the connection has no key that the vendor knows; `import_running`;
 *   `connection_paused`
 */
export async function startImport(rt: Runtime, of: Omit<RunKey, 'id'>, asked: Asked, change: Change): Promise<RunRow> {
  const { db } = rt
  const { connection, key, last } = await batch(db, {
    connection: findConnection(db, of.project_id, of.connection_id),
    key: findVendorKey(db, of),
    last: listRuns(db, of, null, 1),
  })
  const { status, vendor } = requireFound(connection, 'Connection')
  if (status === 'paused')
    throw new Fault(
      'connection_paused',
      'The connection is paused, so everything the import records would be held. Resume the connection first.',
    )
  const api = vendorOf(vendor)?.api
  if (api && !api.imports) throw new Fault('api_key_missing', `The service does not import from ${api.vendor}.`)
  const [own] = key
  if (!own) throw apiKeyMissing('The connection has no API key.')
  if (own.state !== 'ok') throw apiKeyMissing("The vendor has refused the connection's API key.")
  const row = newRun(of, asked, last[0] ?? null, change)
  const entry = importEntry(of.project_id, row.id, 'import.started', {
    connection_id: of.connection_id,
    kinds: Object.keys(row.kinds),
  })
  const isFree = sql`NOT EXISTS (SELECT 1 FROM ${vendorRuns} WHERE ${and(isOf(of), isOpen())})`
  const { rows } = await batch(db, {
    ...audited(db, change, entry, insertWhere(db, vendorRuns, row, isFree)),
    ...keptWith(db, change, row.id),
    rows: findRun(db, row),
  })
  if (!rows[0]) throw new Fault('import_running', 'This connection has an import that is running.')
  const sent = sendPage(rt.fetches, { project_id: of.project_id, import_id: row.id })
  rt.waitUntil(sent.catch((error) => writeLog('warn', 'import_not_sent', { import_id: row.id, error: String(error) })))
  return rows[0]
}

function newRun(of: Omit<RunKey, 'id'>, asked: Asked, last: RunRow | null, change: Change): RunRow {
  const { kinds, invoice_months, payment_methods } = asked
  const { now, actor } = change
  const before = last && isContinued(last, now) ? last : null
  const isSameTime = before?.invoice_months === invoice_months
  const isSame: Partial<Record<ListedKind, boolean>> = {
    invoices: isSameTime,
    payment_methods: before?.payment_methods === payment_methods,
  }
  const goesOn = (kind: ListedKind) => ((isSame[kind] ?? true) ? before?.kinds[kind] : undefined)
  const chosen = LISTED_KINDS.filter((kind) => kinds.includes(kind))
  return {
    ...of,
    id: newId('imp', now),
    state: 'running',
    kinds: Object.fromEntries(chosen.map((kind) => [kind, begun(goesOn(kind))])) as Kinds,
    invoice_months,
    payment_methods,
    invoices_since: before && isSameTime ? before.invoices_since : monthsBefore(now, invoice_months),
    continues: chosen.some(goesOn) ? (before?.id ?? null) : null,
    error: null,
    waiting_until: null,
    tries: 0,
    due_at: now,
    lease_token: null,
    lease_until: null,
    actor: actor.id,
    created_at: now,
    updated_at: now,
    finished_at: null,
  }
}

function isContinued({ state, finished_at }: RunRow, now: number): boolean {
  return (state === 'failed' || state === 'canceled') && (finished_at ?? 0) > now - CONTINUED_WITHIN_MS
}

/** A kind as it begins, or goes on. One that the key could not read is tried again. */
function begun(before: KindProgress | undefined): KindProgress {
  if (!before) return { state: 'waiting', seen: 0, recorded: 0, unchanged: 0, left_out: 0, cursors: [] }
  return { ...before, state: before.state === 'done' ? 'done' : 'waiting' }
}

function monthsBefore(now: number, months: number): number {
  const date = new Date(now)
  return date.setUTCMonth(date.getUTCMonth() - months)
}

/**
 * Ends an import. One that has ended stays as it is.
 *
 * @throws {Fault} `not_found`
 */
export async function cancelImport(db: Db, key: RunKey, change: Change): Promise<RunRow> {
  const { now } = change
  const ended = db
    .update(vendorRuns)
    .set({ state: 'canceled', due_at: null, waiting_until: null, error: null, updated_at: now, finished_at: now })
    .where(and(isRunOf(key), isOpen()))
  const entry = importEntry(key.project_id, key.id, 'import.canceled', { connection_id: key.connection_id })
  const { rows } = await batch(db, { ...audited(db, change, entry, ended), rows: findRun(db, key) })
  return requireFound(rows, 'Import')
}
