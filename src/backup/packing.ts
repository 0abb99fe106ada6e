import { type Db, run } from '../db/client'
import { findUnpacked } from '../inbox/pack-bodies'
import { iso, MINUTE } from '../lib/time'

/**
 * Requires that no payload is packed later. A backup reads an event before its payload: if the payload is packed in between, the event
 * has the id of before, and no event of the backup names the payload. The cron holds up packing while its own backup is under way, but
 * knows nothing of one that a script makes.
 *
 * @param now milliseconds
 * @throws {Error} if payloads are still to be packed. Once they are, that stays so.
 */
export async function requirePacked(db: Db, now: number): Promise<void> {
  const [found] = await run(db, findUnpacked(db))
  if (!found) return
  // A delivery that came before may be recorded a moment later.
  const from = found.from === 0 ? 0 : found.from + MINUTE
  if (from <= now && !found.waits) return
  throw new Error(
    `payloads of the version before are packed by the cron, and a backup would lose those that are packed while it is made. Packing ${
      from > now ? `begins at ${iso(from)}` : 'is under way'
    }: try again when the table \`bodies\` is empty`,
  )
}
