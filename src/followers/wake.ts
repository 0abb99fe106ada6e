import { and, inArray, lte, ne } from 'drizzle-orm'
import { batch, type Db, type Queries, type Results } from '../db/client'
import { valuesOf } from '../db/sql'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { within } from '../lib/within'
import { MESSAGES_AT_ONCE, SEND_WITHIN_MS, WOKEN_FOR } from './limits'
import { watchers, webhookEndpoints } from './schema'

/*
 * Who follows the feed inside the service is woken here, and nowhere else: with the statements of `wakers` in the batch of the change,
 * or after it with `wake`. What is lost on the way is found by the cron.
 */

/** An endpoint that something is to be sent to. */
export type WokenEndpoint = { project_id: string; endpoint_id: string; slow: boolean }

/**
 * The statements that note that followers of these projects are woken. They return who is to get a message: nobody who works, waits, or
 * was woken a moment ago. Where nobody follows, nothing is written.
 *
 * @param now milliseconds
 */
export function wakers(db: Db, projects: readonly string[], now: number) {
  const { project_id, id, state, not_before, lease_until, woken_at, slow } = webhookEndpoints
  return {
    woken_endpoints: db
      .update(webhookEndpoints)
      .set({ woken_at: now })
      .where(
        and(
          inArray(project_id, valuesOf(projects)),
          ne(state, 'disabled'),
          lte(not_before, now),
          lte(lease_until, now),
          lte(woken_at, now - WOKEN_FOR),
        ),
      )
      .returning({ project_id, endpoint_id: id, slow }),
    woken_watchers: db
      .update(watchers)
      .set({ woken_at: now })
      .where(
        and(
          inArray(watchers.project_id, valuesOf(projects)),
          ne(watchers.state, 'off'),
          lte(watchers.lease_until, now),
          lte(watchers.woken_at, now - WOKEN_FOR),
        ),
      )
      .returning({ project_id: watchers.project_id }),
  } satisfies Queries
}

/** What the statements of {@link wakers} have found. */
export type Woken = Results<ReturnType<typeof wakers>>

/** Sends the messages. It throws nothing: the cron sends what was not sent. */
export async function sendWoken(rt: Runtime, { woken_endpoints, woken_watchers }: Woken): Promise<void> {
  try {
    await Promise.all([sendToEndpoints(rt, woken_endpoints), sendToWatchers(rt, woken_watchers)])
  } catch (error) {
    const [endpoints, watching] = [woken_endpoints.length, woken_watchers.length]
    writeLog('warn', 'wake_failed', { endpoints, watchers: watching, error: String(error) })
  }
}

/** Wakes the followers of projects after a change. It throws nothing. */
export async function wake(rt: Runtime, projects: readonly string[]): Promise<void> {
  try {
    await sendWoken(rt, await batch(rt.db, wakers(rt.db, projects, Date.now())))
  } catch (error) {
    writeLog('warn', 'wake_failed', { projects: projects.length, error: String(error) })
  }
}

/** Sends a message for each endpoint, to the queue of its speed. @throws where the Queue does not take them */
export async function sendToEndpoints(
  { deliveries, slowDeliveries }: Runtime,
  endpoints: readonly WokenEndpoint[],
  delaySeconds = 0,
): Promise<void> {
  for (const [queue, isSlow] of [[deliveries, false] as const, [slowDeliveries, true] as const]) {
    const own = endpoints.filter(({ slow }) => slow === isSlow)
    for (let i = 0; i < own.length; i += MESSAGES_AT_ONCE) {
      const messages = own.slice(i, i + MESSAGES_AT_ONCE).map(({ project_id, endpoint_id }) => ({
        body: { project_id, endpoint_id },
        contentType: 'json' as const,
      }))
      await within(SEND_WITHIN_MS, queue.sendBatch(messages, { delaySeconds }))
    }
  }
}

/** Sends a message for each project whose watcher has something to do. @throws where the Queue does not take them */
export async function sendToWatchers(rt: Runtime, woken: readonly { project_id: string }[]): Promise<void> {
  for (let i = 0; i < woken.length; i += MESSAGES_AT_ONCE) {
    const messages = woken.slice(i, i + MESSAGES_AT_ONCE).map(({ project_id }) => ({
      body: { project_id },
      contentType: 'json' as const,
    }))
    await within(SEND_WITHIN_MS, rt.watchers.sendBatch(messages))
  }
}
