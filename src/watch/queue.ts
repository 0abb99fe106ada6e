import * as z from 'zod'
import type { Runtime } from '../env'
import { SEND_WITHIN_MS } from '../followers/limits'
import { sendToWatchers } from '../followers/wake'
import { writeLog } from '../http/log'
import { measureErrors } from '../http/measure'
import { storeOfProject } from '../lib/ids'
import { SECOND } from '../lib/time'
import { within } from '../lib/within'
import { RUN_MS, RUN_STATEMENTS } from './limits'
import { runWatcher } from './run'

/** Asks for a run of the watcher of a project. */
const WatchMessage = z.object({ project_id: z.string() })

/**
 * The consumer of the queue of watchers. It works on one after the other. Those for which there is no time, and those that have more to
 * do, come again, behind the others. Whatever happens to a message, the cron finds a watcher that has something to do.
 */
export async function consumeWatchers(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const goesOn = () => rt.cost().statements < RUN_STATEMENTS && Date.now() < startedAt + RUN_MS
  const again = new Map<string, number>()
  const done = new Set<string>()
  for (const message of batch.messages) {
    const read = WatchMessage.safeParse(message.body)
    if (!read.success) writeLog('error', 'malformed_message', { queue: batch.queue, message_id: message.id })
    else if (!done.has(read.data.project_id)) {
      const { project_id } = read.data
      const inMs = goesOn() ? await goOn(rt, project_id, goesOn) : 0
      if (inMs !== null) again.set(project_id, inMs)
      done.add(project_id)
    }
    message.ack()
  }
  await sendAgain(rt, again)
  const { trips, rows_read, rows_written, ms } = rt.cost()
  const cost = { d1_trips: trips, d1_ms: ms, d1_rows_read: rows_read, d1_rows_written: rows_written }
  writeLog('info', 'watch_batch', { messages: batch.messages.length, ms: Date.now() - startedAt, ...cost })
  measureErrors(rt, 'batch')
}

/** Sends messages for watchers that go on in so many milliseconds. */
async function sendAgain(rt: Runtime, again: ReadonlyMap<string, number>): Promise<void> {
  const at = (isNow: boolean) => [...again].filter(([, ms]) => (ms === 0) === isNow)
  await sendToWatchers(
    rt,
    at(true).map(([project_id]) => ({ project_id })),
  )
  const later = at(false).map(([project_id, ms]) => ({
    body: { project_id },
    contentType: 'json' as const,
    delaySeconds: Math.ceil(ms / SECOND),
  }))
  if (later.length > 0) await within(SEND_WITHIN_MS, rt.watchers.sendBatch(later))
}

/** Works on the watcher of a project. @returns as {@link runWatcher}. If it fails, the cron finds it again. */
async function goOn(rt: Runtime, project_id: string, goesOn: () => boolean): Promise<number | null> {
  const store = storeOfProject(project_id)
  try {
    const inside = store === null ? null : rt.at(store)
    if (!inside) throw new Error(`store ${store} is not bound`)
    return await runWatcher(inside.db, project_id, goesOn)
  } catch (error) {
    writeLog('error', 'watcher_failed', { project_id, error: String(error) })
    return null
  }
}
