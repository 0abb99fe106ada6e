import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import type { ListCall, ListedKind } from '../../vendors/calls'
import { apart } from '../fetches/apart'
import { FAILED_WAIT_S } from '../fetches/limits'
import { processEvents } from '../process/process-events'
import { ifOpened, openSourceKey, type SourceKey, type SourceKeyRow } from '../refresh/keys'
import { markRefused } from '../vendor-api/keys'
import { askForPage, listOf } from './ask-page'
import { isFilling } from './filling'
import { giveBack, type Taken, takeRun } from './lease'
import { FILLING_WAIT_MS, HANDED_ON_WAIT_S, IMPORTS_WITHIN_MS, MAX_BACKOFF_MS, MAX_PRICES } from './limits'
import { type ImportMessage, sendPage } from './message'
import { newsOfPage } from './news'
import { newsOfPrices } from './prices'
import { after, ended, goneOn, held, nextKind, type Step, tried } from './progress'
import type { RunRow } from './runs'
import type { KindProgress } from './schema'
import { type ReadPage, writePage } from './write-page'

/**
 * Reads the next page of each of these imports, one after the other: each holds a page of the vendor's answers in memory. Those for which
 * there is no time come again.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 */
export async function runImports(rt: Runtime, messages: readonly ImportMessage[]): Promise<(number | null)[]> {
  const until = Date.now() + IMPORTS_WITHIN_MS
  const waits: (number | null)[] = []
  for (const message of messages) {
    if (Date.now() >= until) {
      waits.push(HANDED_ON_WAIT_S)
      continue
    }
    const { import_id } = message
    const { failed } = await apart({ import_id }, () => runImport(rt, message))
    waits.push(failed ? FAILED_WAIT_S : null)
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
  const page = await pageOf(rt, taken)
  const { step, records } = page
  const isWritten = await writePage(db, taken, page)
  if (!isWritten) await giveBack(db, taken)
  // Those that were not recorded are not found.
  const tasks = records.map(({ id }) => ({ key: { project_id, event_id: id } }))
  if (isWritten && tasks.length > 0) await processEvents(rt, tasks)
  const { state, error, due_at } = step
  writeLog('info', 'import_page', { import_id, state, error: error ?? undefined, recorded: records.length, isWritten })
  if (due_at === null && isWritten) return
  const wait = Math.max(1, Math.ceil(((due_at ?? 0) - Date.now()) / 1000))
  await sendPage(rt.fetches, { project_id, import_id }, wait)
}

async function pageOf(rt: Runtime, { run, source }: Taken): Promise<ReadPage> {
  const now = Date.now()
  const only = (step: Step): ReadPage => ({ step, records: [], prices: [] })
  if (!source) return only(ended(run, 'canceled', 'api_key_removed', now))
  if (source.key.state !== 'ok') return only(ended(run, 'failed', 'api_key_refused', now))
  if (isFilling(rt.db)) return only(held(run, 'database_filling', now + FILLING_WAIT_MS, now))
  // Until then, a version may run that does not read what is recorded here.
  if (source.connection.packed_from > now) return only(held(run, null, source.connection.packed_from, now))
  // The vendor has asked a refresh or an event to wait, or has just failed.
  const { not_before } = source.key
  if (not_before !== null && not_before > now) return only(held(run, 'vendor_unavailable', not_before, now))
  const key = await ifOpened(openSourceKey(rt, source, 'background'))
  if (!key) return only(held(run, 'encryption_key_unavailable', now + MAX_BACKOFF_MS, now))
  const kind = nextKind(run)
  const progress = kind && run.kinds[kind]
  if (!progress) return only(ended(run, 'done', null, now)) // it continues one that had read all of it
  const list = listOf(key, kind, run)
  if (!list) return only(goneOn(run, kind, { ...progress, state: 'done' }, now))
  return askedPage(rt, { key, source, run, kind, list, progress })
}

type Context = {
  key: SourceKey
  source: SourceKeyRow
  run: RunRow
  kind: ListedKind
  list: ListCall
  progress: KindProgress
}

async function askedPage(rt: Runtime, { key, source, run, kind, list, progress }: Context): Promise<ReadPage> {
  const answer = await askForPage(key, list, { progress, since: run.invoices_since, tries: run.tries })
  const now = Date.now()
  const only = (step: Step): ReadPage => ({ step, records: [], prices: [] })
  const goes = (changes: Partial<KindProgress>) => only(goneOn(run, kind, { ...progress, ...changes }, now))
  switch (answer.is) {
    case 'page': {
      const { objects, last, seen } = answer
      const { records, left_out: left } = await newsOfPage(rt.db, key, objects)
      const prices = answer.prices.length > 0 ? await newsOfPrices(rt.db, key, answer.prices) : []
      const more = answer.more && (list.kind !== null || progress.seen + seen < MAX_PRICES)
      const recorded = records.length + prices.length
      const left_out = left + (list.kind === null ? seen - answer.prices.length : 0)
      return {
        step: goneOn(run, kind, after(progress, { seen, recorded, left_out, last, more }), now),
        records,
        prices,
      }
    }
    case 'again': {
      const step = tried(run, answer.error, answer.wait, now)
      const limit = answer.smaller ? { limit: Math.max(1, Math.floor((progress.limit ?? list.most) / 2)) } : {}
      return only({ ...step, kinds: { ...step.kinds, [kind]: { ...progress, ...limit } } })
    }
    case 'cursor_gone':
      return goes({ state: 'running', cursors: progress.cursors.slice(1) })
    case 'permission_missing':
      return goes({ state: 'permission_missing' })
    case 'key_refused':
      await markRefused(rt.db, source.key)
      return only(ended(run, 'failed', 'api_key_refused', now))
    case 'refused':
      return only(ended(run, 'failed', 'vendor_refused', now))
  }
}
