import type { Runtime } from '../env'
import { isFull } from '../http/database-full'
import { missedLately } from '../inbox/backfill/fields'
import { countUnreadable } from '../inbox/connections/sealing'
import { attentionIn } from '../inbox/failures/attention'
import { vanishedReason } from '../inbox/formats/words'
import { SHOWN_STATUSES, type ShownStatus } from '../inbox/lifecycle'
import { endpointReasons } from '../inbox/vendor-endpoints/findings'
import { idTime } from '../lib/ids'
import { sealingKey } from '../lib/seal'
import { MINUTE } from '../lib/time'
import { MAX_STORE_BYTES } from '../stores/limits'
import type { HealthFacts } from './findings'
import { MAX_COUNTED } from './limits'
import { type HealthRows, snapshot } from './read'
import { refusingEverything, type Traffic, trafficOf } from './traffic'
import { sum, windowOf } from './window'

/** The statements that {@link assess} needs the results of. */
export function healthQueries({ db, now, settings, store }: Runtime, projectId: string) {
  const newest_key = sealingKey(settings.encryptionKeys)
  return snapshot(db, projectId, { since_minute: Math.floor(now / MINUTE) - 59, now, newest_key, store })
}

/** What a project's health depends on, and its connections, oldest first, with what each received. */
export async function assess(rt: Runtime, found: HealthRows) {
  const { now, db } = rt
  const thisMinute = Math.floor(now / MINUTE)
  const full = await isFull(rt) // not before the caller is confirmed
  const heldBy = new Map(found.held.map(({ id, n }) => [id, n]))
  const byConnection = Map.groupBy(found.minutes, (row) => row.connection_id)
  const connections = found.connections.toReversed().map((row) => {
    const minutes = byConnection.get(row.id) ?? []
    const recent = minutes.filter(({ minute }) => minute > thisMinute - 5)
    const backfill = found.backfills.find(({ connection_id }) => connection_id === row.id) ?? null
    const traffic = { last_5m: trafficOf(recent), last_60m: trafficOf(minutes), failed_60m: sum(minutes, 'failed') }
    return { ...row, backfill, held: heldBy.get(row.id) ?? 0, ...traffic }
  })
  const open = connections.filter(({ status }) => status !== 'disabled')
  const attention = attentionIn(countsOf(found).failed, found.by_mute)
  const last_sweep_at = found.swept[0]?.at ?? null
  const facts: HealthFacts & { last_60m: ReturnType<typeof windowOf> } = {
    ...openFacts(found.open, now),
    last_60m: windowOf(found.minutes),
    muted_60m: attention.recent,
    store: { number: rt.store, size_bytes: db.meter.size_bytes, limit_bytes: MAX_STORE_BYTES, full },
    unreadable: await unreadableOf(rt, open),
    sweep_age_ms: last_sweep_at === null ? null : now - last_sweep_at,
    without_secret: open.filter(isMissed).map(({ name }) => name),
    thin_without_key: found.thin.map(({ name }) => name),
    fetches_failed: found.fetches_failed[0]?.n ?? 0,
    key_refused: found.key_refused.map(({ name }) => name),
    silent: found.silent.map(({ name, since }) => ({ name, ms: now - since })),
    renewals_missing: found.missing,
    missed: open.flatMap(({ name, backfill }) => (backfill ? [{ name, n: missedLately(backfill, now) }] : [])),
    vanished: found.vanished.map(({ name, vanished }) => vanishedReason(name, vanished)),
    endpoint_findings: endpointReasons(found.vendor_endpoints),
    watching: {
      skipped: found.watched[0]?.skipped ?? 0,
      unread_age_ms: found.watched[0]?.unread_since == null ? 0 : now - found.watched[0].unread_since,
    },
    unwell: found.unwell,
    refusing: refusingEverything(open.filter(({ secrets }) => secrets.length > 0)),
  }
  return { connections, facts, attention }
}

type Waiting = Pick<HealthRows['connections'][number], 'secrets' | 'last_event_id'> & { last_60m: Traffic }

/**
 * Whether deliveries are refused because the connection has no signing secret. A new connection, to which nothing has been
 * sent yet, is only not set up.
 */
export function isMissed({ secrets, last_event_id, last_60m }: Waiting): boolean {
  return secrets.length === 0 && (last_event_id !== null || Object.keys(last_60m.refused).length > 0)
}

/** Of the connections that take deliveries, those with secrets that no encryption key opens. */
async function unreadableOf({ settings }: Runtime, open: HealthRows['connections']) {
  const counted = open.map(async (row) => ({
    name: row.name,
    n: await countUnreadable(settings.encryptionKeys, row),
  }))
  return (await Promise.all(counted)).filter(({ n }) => n > 0)
}

type Counted = Pick<HealthRows, 'finals' | 'open'> & { held: readonly { n: number }[] }

/** Events by status, as it is shown. From {@link MAX_COUNTED} on, there may be more that are held. */
export function countsOf({ finals, open, held }: Counted): Record<ShownStatus, number> {
  const counts = Object.fromEntries(SHOWN_STATUSES.map((status) => [status, 0])) as Record<ShownStatus, number>
  counts.held = Math.min(
    MAX_COUNTED,
    held.reduce((sum, { n }) => sum + n, 0),
  )
  for (const { status, n } of [...finals, ...open]) counts[status] += n
  return counts
}

/** The age of the oldest open event that is not held (ms; null if there is none), and how many leases have expired. */
export function openFacts(open: HealthRows['open'], now: number) {
  const opened = open.flatMap(({ oldest_event, oldest_replay, oldest_released }) => [
    ...[oldest_event, oldest_replay].filter((id) => id !== null).map(idTime),
    ...(oldest_released === null ? [] : [oldest_released]),
  ])
  return {
    oldest_pending_age_ms: opened.length === 0 ? null : Math.max(0, now - Math.min(...opened)),
    expired_leases: open.reduce((sum, { expired }) => sum + expired, 0),
  }
}
