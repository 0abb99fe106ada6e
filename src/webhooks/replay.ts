import type { Change } from '../audit/store'
import type { Runtime } from '../env'
import { writeLog } from '../http/log'
import { newId } from '../lib/ids'
import { sendEvents } from './messages'
import { type Replayed, reopen } from './record/replay'

/** Asks for an event to be processed again. @returns null where the project has no such event */
export async function requestReplay(
  rt: Runtime,
  projectId: string,
  eventId: string,
  change: Change,
): Promise<Replayed | null> {
  const replayed = await reopen(rt.db, projectId, eventId, newId('rpl', rt.now), change)
  if (!replayed) return null
  // Sent for a run that was coming anyway too: a retry that waited is due now. A claim makes twice once.
  rt.waitUntil(
    sendEvents(rt.events, [{ project_id: projectId, event_id: eventId }]).catch((error) =>
      writeLog('warn', 'queue_send_failed', { events: 1, error: String(error) }),
    ),
  )
  return replayed
}
