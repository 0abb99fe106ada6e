import * as z from 'zod'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { measureErrors } from '../http/measure'
import { storeOfProject } from '../lib/ids'
import { runEndpoint } from './run'
import type { EndpointOf } from './work'

/** Asks for a run of an endpoint. */
const DeliveryMessage = z.object({ project_id: z.string(), endpoint_id: z.string() })

/** The consumer of both queues of endpoints. Whatever happens to a message, the cron finds an endpoint that something is to be sent to. */
export async function consumeDeliveries(rt: Runtime, batch: MessageBatch<unknown>): Promise<void> {
  const startedAt = Date.now()
  const asked = new Map<string, EndpointOf>()
  for (const message of batch.messages) {
    const read = DeliveryMessage.safeParse(message.body)
    if (read.success) asked.set(read.data.endpoint_id, read.data)
    else writeLog('error', 'malformed_message', { queue: batch.queue, message_id: message.id })
    message.ack()
  }
  await Promise.all([...asked.values()].map((one) => runOne(rt, one)))
  const { trips, rows_read, rows_written, ms } = rt.cost()
  const cost = { d1_trips: trips, d1_ms: ms, d1_rows_read: rows_read, d1_rows_written: rows_written }
  writeLog('info', 'delivery_batch', { endpoints: asked.size, ms: Date.now() - startedAt, ...cost })
  measureErrors(rt, 'batch')
}

async function runOne(rt: Runtime, of: EndpointOf): Promise<void> {
  const store = storeOfProject(of.project_id)
  try {
    const inside = store === null ? null : rt.at(store)
    if (!inside) throw new Error(`store ${store} is not bound`)
    await runEndpoint(inside, of)
  } catch (error) {
    writeLog('error', 'delivery_failed', { ...of, error: String(error) })
  }
}
