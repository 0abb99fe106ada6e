import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { findDoubtful, resendDoubts } from '../doubts/due'
import { resendImports, takeOverdue } from '../imports/due'

/** Sends to the queue of fetches what is due, and what that queue has lost. The sweep sends its events. */
export async function resendFetches({ db, fetches, now }: Runtime): Promise<void> {
  const { imports, doubtful } = await batch(db, { imports: takeOverdue(db, now), doubtful: findDoubtful(db, now) })
  await Promise.all([resendImports(fetches, imports), resendDoubts(fetches, doubtful)])
}
