import type { Change } from '../../audit/store'
import { run } from '../../db/client'
import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { seal } from '../../lib/seal'
import { vendorOf } from '../../vendors'
import { readConnection } from '../connections/connection'
import { HINT_SHOWS } from '../connections/limits'
import { requireSealingKey } from '../connections/sealing'
import { noteMissingItems } from '../doubts/note'
import { resumeRefused } from '../thin/resume'
import { findRecentEvents, putVendorKey, type VendorKeyRow, vendorKeyContext } from './keys'
import { SIGHT_AGE } from './limits'
import { VENDORS_WITH_KEYS } from './missing'
import { tryKey } from './try-key'
import { turnOf } from './turn'

/**
 * Checks a vendor's API key. If the key is good, it replaces the one that the connection has, events that wait for a good key are processed,
 * and the vendor is asked what was bought where no event says it.
 *
 * @throws {Fault} `not_found`, `api_key_unsupported`, `encryption_key_unavailable`, and what `tryKey` throws
 */
export async function setVendorKey(
  rt: Runtime,
  of: { project_id: string; connection_id: string },
  apiKey: string,
  change: Change,
): Promise<VendorKeyRow> {
  const { vendor, livemode } = await readConnection(rt.db, of.project_id, of.connection_id)
  const api = vendorOf(vendor)?.api
  if (!api)
    throw new Fault('api_key_unsupported', `The service supports API keys only for ${VENDORS_WITH_KEYS.join(', ')}.`)
  await requireSealingKey(rt)
  const rows = await run(rt.db, findRecentEvents(rt.db, of, rt.now - SIGHT_AGE))
  const events = rows.map(({ summary, ...event }) => ({
    ...event,
    object: summary?.object ?? { type: null, id: null },
    customer: summary?.customer ?? null,
  }))
  const tried = await tryKey(api, apiKey, { livemode, events, turn: turnOf(rt, api, apiKey, 'waited') })
  const row = {
    ...of,
    ...(await seal(rt.settings.encryptionKeys, apiKey, vendorKeyContext(of))),
    ...tried,
    hint: apiKey.slice(-HINT_SHOWS),
    livemode,
    state: 'ok' as const,
    added_by: change.actor.id,
    checked_at: rt.now,
    created_at: rt.now,
    not_before: null,
  }
  const kept = await putVendorKey(rt.db, row, change)
  await resumeRefused(rt.db, of, change)
  if (api.calls.ofItems) await run(rt.db, noteMissingItems(rt.db, { ...of, vendor }, rt.now))
  return kept
}
