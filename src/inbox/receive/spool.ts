import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import { measure } from '../../http/measure'
import { type SpooledMessage, sendSpooled } from '../messages'
import { MAX_SPOOLED_BYTES } from './limits'
import type { NewDelivery } from './recording'
import type { Verified } from './verify'

/**
 * Sends a delivery to the Queue while the database is out. The consumer records it first, and only while the secret that
 * verified it is live.
 *
 * @returns false if the delivery does not fit in a message, or the Queue is out too
 */
export async function spool(
  rt: Runtime,
  { connection, secret }: Verified,
  { payload_id, headers, events, received_at }: NewDelivery,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const message: SpooledMessage = {
    spooled: 1,
    project_id: connection.project_id,
    connection_id: connection.id,
    secret_id: secret.id,
    payload_id,
    received_at,
    headers,
    events: [...events],
    body: bytes,
  }
  const measured = (outcome: 'sent' | 'too_large' | 'queue_out') =>
    measure(rt, 'spool', { outcome, events: events.length, bytes: bytes.byteLength })
  if (!fitsMessage(message)) {
    measured('too_large')
    writeLog('warn', 'spool_too_large', { connection_id: connection.id, bytes: bytes.byteLength })
    return false
  }
  try {
    await sendSpooled(rt.events, message)
  } catch (error) {
    measured('queue_out')
    writeLog('error', 'spool_failed', { connection_id: connection.id, error: String(error) })
    return false
  }
  measured('sent')
  writeLog('warn', 'spooled', { connection_id: connection.id, events: events.length })
  return true
}

function fitsMessage({ body, headers, events }: SpooledMessage): boolean {
  return body.byteLength + JSON.stringify([headers, events]).length <= MAX_SPOOLED_BYTES
}
