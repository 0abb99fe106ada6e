import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { writeLog } from '../../http/log'
import type { ConnectionPlace } from '../of-connection'
import { takeFormats } from './count'
import { CHECKED_AT_ONCE } from './limits'
import { formatsOf, noteFindings } from './look'
import type { FormatRow } from './schema'
import { formatsAdded, versionsTrimmed } from './store'

/**
 * Writes what this isolate has counted of the store, at most once a minute, and looks at connections of which something was counted.
 * Nothing waits for it. An isolate that is evicted loses the counts of up to a minute, or of up to the next batch that it processes.
 */
export function writeFormats(rt: Runtime): void {
  const taken = takeFormats(rt.store, CHECKED_AT_ONCE)
  if (taken) rt.waitUntil(write(rt, taken))
}

async function write({ db }: Runtime, { counts, looked: some }: { counts: FormatRow[]; looked: ConnectionPlace[] }) {
  try {
    const read = await batch(db, {
      ...(counts.length > 0 && { added: formatsAdded(db, counts), trimmed: versionsTrimmed(db, counts) }),
      ...formatsOf(db, some),
    })
    await noteFindings(db, some, read, { now: Date.now() })
  } catch (error) {
    // Only counts are lost. The next events are counted again.
    writeLog('warn', 'formats_not_counted', { connections: some.length, error: String(error) })
  }
}
