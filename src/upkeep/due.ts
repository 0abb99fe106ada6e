import { batch } from '../db/client'
import { sendToDue, takeDueEndpoints } from '../endpoints/due'
import type { Runtime } from '../env'
import { findDoubtful, resendDoubts } from '../inbox/doubts/due'
import { resendImports, takeOverdue } from '../inbox/imports/due'
import { releasing, sendReleased } from '../inbox/process/release'
import { sendDueChecks } from '../inbox/vendor-endpoints/due'
import { takeDueChecks } from '../inbox/vendor-endpoints/store'
import { findDueMails } from '../notices/send'
import { sendToWaiting, takeWaiting } from '../watch/due'
import { mailNotices } from './notices'

/**
 * Releases what paused connections held. Sends to the queues of fetches, of watchers and of endpoints what is due, and what they have lost,
 * and the emails about notices. The sweep sends its events.
 */
export async function resendDue(rt: Runtime): Promise<void> {
  const { db, fetches, now } = rt
  const { released, imports, doubtful, checks, waiting, due, mails } = await batch(db, {
    ...releasing(db, now),
    mails: findDueMails(db, now),
    imports: takeOverdue(db, now),
    doubtful: findDoubtful(db, now),
    checks: takeDueChecks(db, now),
    waiting: takeWaiting(db, now),
    due: takeDueEndpoints(db, now),
  })
  // Nothing waits for the email service.
  rt.waitUntil(mailNotices(rt, mails))
  await Promise.all([
    sendReleased(rt, released),
    resendImports(fetches, imports),
    resendDoubts(fetches, doubtful),
    sendDueChecks(fetches, checks),
    sendToWaiting(rt, waiting),
    sendToDue(rt, due),
  ])
}
