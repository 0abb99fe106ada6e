import { readOf } from '../../billing/fetched'
import { findKnownOf } from '../../billing/read/known'
import { findErasedAmong } from '../../consumers/links'
import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { utf8 } from '../../lib/crypto'
import { Fault } from '../../lib/fault'
import { iso } from '../../lib/time'
import { MAX_STORE_BYTES } from '../../stores/limits'
import type { ListedKind } from '../../vendors/calls'
import { processEvents } from '../process/process-events'
import { MAX_DELIVERY_BYTES } from '../receive/limits'
import { type Fetched, news } from '../refresh/ask'
import { openSourceKey, type SourceKey, type SourceKeyRow } from '../refresh/keys'
import { KNOWN } from '../refresh/limits'
import type { FetchedRecord } from '../refresh/record'
import { markRefused } from '../vendor-api/keys'
import { askForPage } from './ask-page'
import { giveBack, type Taken, takeRun } from './lease'
import {
  FILLING_SHARE,
  FILLING_WAIT_MS,
  HANDED_ON_WAIT_S,
  IMPORTS_WITHIN_MS,
  LIST_LAG_MS,
  MAX_BACKOFF_MS,
} from './limits'
import { type ImportMessage, sendPage } from './message'
import { after, ended, goneOn, held, nextKind, type Step, tried } from './progress'
import type { RunRow } from './runs'
import type { KindProgress } from './schema'
import { writePage } from './write-page'

/** What a page did: how far the import is then, and what is to be recorded with it. */
type Page = { step: Step; records: FetchedRecord[] }

/**
 * Reads the next page of each of these imports, one after the other: each holds a page of the vendor's answers in memory. Those for which
 * there is no time come again.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 * @throws {Fault} `database_unavailable`
 */
export async function runImports(rt: Runtime, messages: readonly ImportMessage[]): Promise<(number | null)[]> {
  const until = Date.now() + IMPORTS_WITHIN_MS
  const waits: (number | null)[] = []
  for (const message of messages) {
    const isTime = Date.now() < until
    if (isTime) await runImport(rt, message)
    waits.push(isTime ? null : HANDED_ON_WAIT_S)
  }
  return waits
}

/**
 * Reads the next page of an import, and asks for the one after it. If this worker dies, the import is given to another one once its
 * lease has expired, and goes on after what was recorded.
 *
 * @throws {Fault} `database_unavailable`
 */
async function runImport(rt: Runtime, { project_id, import_id }: ImportMessage): Promise<void> {
  const { db } = rt
  const taken = await takeRun(db, { project_id, import_id })
  if (!taken) return
  const { step, records } = await pageOf(rt, taken)
  const isWritten = await writePage(db, taken, step, records)
  if (!isWritten) await giveBack(db, taken)
  // Those that were not recorded are not found.
  const tasks = records.map(({ id }) => ({ key: { project_id, event_id: id } }))
  if (isWritten && tasks.length > 0) await processEvents(db, tasks)
  const { state, error, due_at } = step
  writeLog('info', 'import_page', { import_id, state, error: error ?? undefined, recorded: records.length, isWritten })
  if (due_at === null && isWritten) return
  const wait = Math.max(1, Math.ceil(((due_at ?? 0) - Date.now()) / 1000))
  await sendPage(rt.fetches, { project_id, import_id }, wait)
}

async function pageOf(rt: Runtime, { run, source }: Taken): Promise<Page> {
  const now = Date.now()
  const only = (step: Step): Page => ({ step, records: [] })
  if (!source) return only(ended(run, 'canceled', 'api_key_removed', now))
  if (source.key.state !== 'ok') return only(ended(run, 'failed', 'api_key_refused', now))
  if ((rt.db.meter.size_bytes ?? 0) >= FILLING_SHARE * MAX_STORE_BYTES)
    return only(held(run, 'database_filling', now + FILLING_WAIT_MS, now))
  // Until then, a version may run that does not read what is recorded here.
  if (source.connection.packed_from > now) return only(held(run, null, source.connection.packed_from, now))
  const key = await opened(rt, source)
  if (!key) return only(held(run, 'encryption_key_unavailable', now + MAX_BACKOFF_MS, now))
  const kind = nextKind(run)
  const progress = kind && run.kinds[kind]
  if (!progress) return only(ended(run, 'done', null, now)) // it continues one that had read all of it
  return askedPage(rt, { key, source, run, kind, progress })
}

/** @returns null if the service's encryption keys do not open the key */
async function opened(rt: Runtime, source: SourceKeyRow): Promise<SourceKey | null> {
  try {
    return await openSourceKey(rt, source, 'background')
  } catch (error) {
    if (error instanceof Fault && error.fault === 'encryption_key_unavailable') return null
    throw error
  }
}

type Context = { key: SourceKey; source: SourceKeyRow; run: RunRow; kind: ListedKind; progress: KindProgress }

async function askedPage(rt: Runtime, { key, source, run, kind, progress }: Context): Promise<Page> {
  const answer = await askForPage(key, { kind, progress, since: run.invoices_since })
  const now = Date.now()
  const goes = (changes: Partial<KindProgress>) => goneOn(run, kind, { ...progress, ...changes }, now)
  switch (answer.is) {
    case 'page': {
      const records = await newsOf(rt, key, answer.objects)
      const { last, more, objects } = answer
      return {
        step: goneOn(run, kind, after(progress, { seen: objects.length, recorded: records.length, last, more }), now),
        records,
      }
    }
    case 'again': {
      const step = tried(run, answer.error, answer.wait, now)
      const limit = answer.smaller
        ? { limit: Math.max(1, Math.floor((progress.limit ?? key.api.calls.lists[kind].most) / 2)) }
        : {}
      return { step: { ...step, kinds: { ...step.kinds, [kind]: { ...progress, ...limit } } }, records: [] }
    }
    case 'cursor_gone':
      return { step: goes({ state: 'running', cursors: progress.cursors.slice(1) }), records: [] }
    case 'permission_missing':
      return { step: goes({ state: 'permission_missing' }), records: [] }
    case 'key_refused':
      await markRefused(rt.db, source.key)
      return { step: ended(run, 'failed', 'api_key_refused', now), records: [] }
    case 'refused':
      return { step: ended(run, 'failed', 'vendor_refused', now), records: [] }
  }
}

/** The records of those objects of a page that say something new. Nothing is recorded of customers whose consumers were erased. */
async function newsOf({ db }: Runtime, key: SourceKey, objects: readonly Fetched[]): Promise<FetchedRecord[]> {
  const kind = objects[0]?.kind
  if (kind === undefined || kind === 'checkout') return []
  const { project_id, vendor } = key
  const ids = objects.map(({ object }) => String(object.id))
  const customers = kind === 'customer' ? ids : objects.map(({ object }) => key.api.calls.customerIn(object))
  const { known, erased } = await batch(db, {
    known: findKnownOf(
      db,
      ids.map((vendor_id) => ({ project_id, vendor, kind, vendor_id })),
      KNOWN.bytes,
    ),
    erased: findErasedAmong(db, project_id, vendor, [...new Set(customers.filter((one) => one !== null))]),
  })
  const gone = new Set(erased.map(({ id }) => id))
  const live = objects.filter((_, i) => !gone.has(customers[i] ?? ''))
  const records = await news(key, live, known, readInList)
  return records.filter(isKept)
}

/** Whether an object fits into a payload: a larger one could not be read again. No vendor is known to have one. */
function isKept({ kind, object }: FetchedRecord): boolean {
  const bytes = utf8(JSON.stringify(object)).byteLength
  if (bytes > MAX_DELIVERY_BYTES) writeLog('warn', 'fetched_too_large', { kind, bytes })
  return bytes <= MAX_DELIVERY_BYTES
}

/** When an object of a list was read: lists may lag behind, so that they contain nothing of what is known. */
const readInList: typeof readOf = (answer) => {
  const read = readOf({ ...answer, over: null })
  const latest = Date.parse(answer.date ?? '') - LIST_LAG_MS
  return Date.parse(read.at) > latest ? { ...read, at: iso(latest) } : read
}
