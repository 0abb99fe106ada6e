import { and, eq, inArray } from 'drizzle-orm'
import { run } from '../../db/client'
import { valuesOf } from '../../db/sql'
import type { Runtime } from '../../env'
import { SECOND } from '../../lib/time'
import { events } from '../schema'
import { markRefused, pauseKey } from '../vendor-api/keys'
import { MAX_PAUSE_MS } from '../vendor-api/limits'
import type { Lane } from '../vendor-api/turn'
import type { Asked } from './ask'
import { openSourceKey, type SourceKey, type SourceKeyRow } from './keys'

type Accounts = { project_id: string; keys: readonly SourceKeyRow[]; sources: readonly string[]; lane: Lane }
/** What an account answered, and with whose key it was asked. */
type Answered = { key: SourceKey; asked: Asked }

/**
 * Asks the accounts of a project one after the other until one answers. The one that has told of the object before comes first: two
 * accounts can have a customer with the same id, if the vendor has copied it.
 *
 * @param of `sources`: the records that what is known comes from. `lane`: what the calls are for
 * @returns `best`: the answer of the account that has the object; of another one, if that is all there is. `unknown`: whether every
 *   account said that it has no such object. `wait_s`: how long a vendor wants not to be asked (s); null if none said so
 */
export async function askAccounts(
  rt: Runtime,
  of: Accounts,
  askOne: (key: SourceKey) => Promise<Asked>,
): Promise<{ best: Answered | null; unknown: boolean; wait_s: number | null }> {
  let other: Answered | null = null
  let gone = 0
  let wait_s: number | null = null
  for (const row of await inOrder(rt, of)) {
    const isPaused = (row.key.not_before ?? 0) > Date.now()
    const key = isPaused ? null : await openSourceKey(rt, row, of.lane)
    if (!key) continue
    const asked = await askOne(key)
    const { outcome, retry_after_s } = asked.first ?? {}
    if (outcome === 'ok') return { best: { key, asked }, unknown: false, wait_s }
    if (outcome === 'key_refused') await markRefused(rt.db, row.key)
    if (outcome === 'failed' && retry_after_s) {
      const wait = Math.min(retry_after_s, MAX_PAUSE_MS / SECOND)
      wait_s = Math.max(wait, wait_s ?? 0)
      await pauseKey(rt.db, row.key, Date.now() + wait * SECOND)
    }
    if (outcome === 'gone') gone += 1
    else if (asked.answered > 0) other ??= { key, asked }
  }
  return { best: other, unknown: gone > 0 && gone === of.keys.length, wait_s }
}

async function inOrder(rt: Runtime, { project_id, keys, sources }: Accounts): Promise<readonly SourceKeyRow[]> {
  if (keys.length < 2 || sources.length === 0) return keys
  const told = await run(
    rt.db,
    rt.db
      .selectDistinct({ id: events.connection_id })
      .from(events)
      .where(and(eq(events.project_id, project_id), inArray(events.id, valuesOf(sources)))),
  )
  const hasTold = ({ key }: SourceKeyRow) => told.some(({ id }) => id === key.connection_id)
  return [...keys.filter(hasTold), ...keys.filter((row) => !hasTold(row))]
}
