import * as z from 'zod'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measureErrors } from '../../http/measure'
import { storeOfProject } from '../../lib/ids'
import { runBackfills } from '../backfill/look'
import { BackfillMessage } from '../backfill/message'
import { askForDoubts } from '../doubts/consume'
import { DoubtMessage } from '../doubts/message'
import { ImportMessage } from '../imports/message'
import { runImports } from '../imports/run'
import { FetchEventMessage } from '../messages'
import { fetchForEvents } from '../thin/consume'
import { checkEndpoints } from '../vendor-endpoints/consume'
import { EndpointMessage } from '../vendor-endpoints/message'
import { FAILED_WAIT_S } from './limits'

/** What the vendors' APIs are to be asked for: ids, never payloads or secrets. */
const FetchMessage = z.discriminatedUnion('what', [
  ImportMessage,
  FetchEventMessage,
  DoubtMessage,
  BackfillMessage,
  EndpointMessage,
])
type FetchMessage = z.infer<typeof FetchMessage>
type What = FetchMessage['what']

/**
 * Does what messages of one kind ask for, in the store of their projects. Messages of which nothing can be done any more count as done.
 *
 * @returns for each message, after how many seconds it is to be delivered again; null if it is done
 * @throws if none of them could be done: then all are delivered again
 */
type Handler<M> = (rt: Runtime, messages: readonly M[]) => Promise<(number | null)[]>

const HANDLERS: { [W in What]: Handler<Extract<FetchMessage, { what: W }>> } = {
  import: runImports,
  event: fetchForEvents,
  doubt: askForDoubts,
  backfill: runBackfills,
  endpoint: checkEndpoints,
}

/** Messages of one kind for one store. */
type Group = { what: What; store: number; own: { message: Message<unknown>; body: FetchMessage }[] }

/**
 * The consumer of the queue of fetches. Kinds and stores are side by side, so that none of them waits for another's vendor. Whatever
 * happens to a message, rows say what is still to be done, and the cron sends again what is due.
 */
export async function consumeFetches(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const groups = new Map<string, Group>()
  for (const message of batch.messages) {
    const read = FetchMessage.safeParse(message.body)
    const store = read.success ? storeOfProject(read.data.project_id) : null
    if (!read.success || store === null) {
      writeLog('error', 'malformed_message', { queue: batch.queue, message_id: message.id })
      message.ack()
      continue
    }
    const { what } = read.data
    const group = groups.get(`${what} ${store}`) ?? { what, store, own: [] }
    groups.set(`${what} ${store}`, group)
    group.own.push({ message, body: read.data })
  }
  await Promise.all([...groups.values()].map((group) => handle(rt, group)))
  const { trips, rows_read, rows_written, ms } = rt.cost()
  const cost = { d1_trips: trips, d1_ms: ms, d1_rows_read: rows_read, d1_rows_written: rows_written }
  writeLog('info', 'fetch_batch', { messages: batch.messages.length, ms: Date.now() - startedAt, ...cost })
  measureErrors(rt, 'batch')
}

async function handle(rt: Runtime, { what, store, own }: Group): Promise<void> {
  const startedAt = Date.now()
  const about = { what, store, messages: own.length }
  try {
    const inside = rt.at(store)
    if (!inside) throw new Error(`store ${store} is not bound`)
    const handler = HANDLERS[what] as Handler<FetchMessage>
    const waits = await handler(
      inside,
      own.map(({ body }) => body),
    )
    for (const [i, { message }] of own.entries()) {
      const wait = waits[i]
      if (wait == null) message.ack()
      else message.retry({ delaySeconds: wait })
    }
    writeLog('info', 'fetches', { ...about, ms: Date.now() - startedAt })
  } catch (error) {
    for (const { message } of own) message.retry({ delaySeconds: FAILED_WAIT_S })
    writeLog('error', 'fetches', { ...about, ms: Date.now() - startedAt, error: String(error) })
  }
}
