import { MISSED_DEGRADED } from '../inbox/backfill/limits'
import { HOUR, MINUTE, SECOND } from '../lib/time'
import { THRESHOLDS } from './limits'

/** What the verdict depends on. Ages are in milliseconds. */
export type HealthFacts = {
  oldest_pending_age_ms: number | null
  expired_leases: number
  /** Null if the sweep has never run. */
  sweep_age_ms: number | null
  last_60m: { received: number; failed: number }
  /** Those of them that failed with a muted cause, which nobody is to be told of. */
  muted_60m: number
  /** Names of active connections without a signing secret, to which something was sent. */
  without_secret: readonly string[]
  /** Names of active connections with signing secrets that no encryption key opens, and how many each has. */
  unreadable: readonly { name: string; n: number }[]
  /** `full`: whether the database has recently refused a write because it is full. */
  store: { number: number; size_bytes: number | null; limit_bytes: number; full: boolean }
  /** Names of active connections that have no API key, and receive thin events about objects that would become state. */
  thin_without_key: readonly string[]
  /** Names of active connections whose API key the vendor no longer accepts. */
  key_refused: readonly string[]
  /** Active connections that have received nothing for unusually long, and for how long. */
  silent: readonly { name: string; ms: number }[]
  /** How many events active connections with an API key missed today and yesterday. */
  missed: readonly { name: string; n: number }[]
  /** Vendors with many overdue subscriptions that should have renewed in the last week. */
  renewals_missing: readonly { vendor: string; overdue: number; due: number }[]
  /** Sentences about connections whose events lack fields that earlier ones had. */
  vanished: readonly string[]
  /** Reasons about the webhook endpoints of active connections at their vendors. */
  endpoint_findings: readonly string[]
  /** Objects that were fetched in the last hour and could not be applied. */
  fetches_failed: number
  /** Of the watcher of entitlements: how many consumers have too much to be looked at, and how old the oldest change is that it has not read. */
  watching: { skipped: number; unread_age_ms: number }
  /** Webhook endpoints that take nothing, or that were disabled for that. */
  unwell: readonly { url: string; state: string; disabled_reason: string | null }[]
  /** Sentences about connections that refused every delivery. */
  refusing: readonly string[]
}
export type HealthVerdict = { status: 'ok' | 'degraded' | 'failing'; reasons: string[] }

/** The worst status that any fact causes, with the reasons for it. */
export function verdictOf(facts: HealthFacts): HealthVerdict {
  const checks = checksOf(facts)
  for (const status of ['failing', 'degraded'] as const) {
    const reasons = checks.flatMap((check) => (check[status] ? [check.reason] : []))
    if (reasons.length > 0) return { status, reasons }
  }
  return { status: 'ok', reasons: [] }
}

/** What a check is about. */
type About =
  | 'pending'
  | 'sweep'
  | 'failed'
  | 'leases'
  | 'secret'
  | 'unreadable'
  | 'store'
  | 'refusing'
  | 'thin_events_without_key'
  | 'api_key_refused'
  | 'vendor_endpoint'
  | 'fetches_failed'
  | 'connection_silent'
  | 'renewals_missing'
  | 'events_missed'
  | 'format'
  | 'entitlements'
  | 'webhook_endpoint'
type Check = { about: About; reason: string; degraded: boolean; failing?: boolean }

/** Something that is wrong. */
export type Finding = { about: About; reason: string; failing: boolean }

/** Everything that is wrong, including what is less severe than the status: the failing checks first. */
export function findingsOf(facts: HealthFacts): Finding[] {
  const wrong = checksOf(facts).filter(({ degraded, failing }) => degraded || failing)
  const findings = wrong.map(({ about, reason, failing }) => ({ about, reason, failing: failing === true }))
  return findings.sort((a, b) => Number(b.failing) - Number(a.failing))
}

function checksOf(facts: HealthFacts): Check[] {
  const { oldest_pending_age_ms, expired_leases, sweep_age_ms, last_60m, without_secret, unreadable, refusing, store } =
    facts
  const { degraded, failing } = THRESHOLDS
  const { received } = last_60m
  const failed = Math.max(0, last_60m.failed - facts.muted_60m)
  const age = oldest_pending_age_ms ?? 0
  const swept = sweep_age_ms ?? 0
  return [
    {
      about: 'pending',
      reason: `the oldest open event has waited for ${span(age)}`,
      degraded: age > degraded.oldest_pending_age_ms,
      failing: age > failing.oldest_pending_age_ms,
    },
    {
      about: 'sweep',
      reason: `the job that picks up waiting events last ran ${span(swept)} ago`,
      degraded: swept > degraded.sweep_age_ms,
      failing: swept > failing.sweep_age_ms,
    },
    { about: 'sweep', reason: 'the job that picks up waiting events has not run yet', degraded: sweep_age_ms === null },
    {
      about: 'failed',
      reason: `${failed} of ${received} events received in the last hour failed${facts.muted_60m > 0 ? ', without those with a muted cause' : ''}`,
      degraded: failed >= degraded.failed_last_60m,
      failing: received > 0 && failed / received >= failing.failed_share_last_60m,
    },
    {
      about: 'leases',
      reason: `expired leases: ${expired_leases} (a worker died while it was processing an event)`,
      degraded: expired_leases >= degraded.expired_leases,
    },
    ...without_secret.map((name) => ({
      about: 'secret' as const,
      reason: `the connection ${name} has no signing secret and refuses every delivery`,
      degraded: true,
    })),
    ...unreadable.map(({ name, n }) => ({
      about: 'unreadable' as const,
      reason: `no encryption key opens ${n === 1 ? 'a signing secret' : `${n} signing secrets`} of the connection ${name}: restore the ENCRYPTION_KEY_… that encrypted them, or remove the secrets and add them again`,
      degraded: true,
      failing: n >= failing.unreadable_secrets,
    })),
    {
      about: 'store',
      reason: `database ${store.number} is full and refuses new rows`,
      degraded: store.full,
      failing: store.full,
    },
    {
      about: 'store',
      reason: `database ${store.number} is ${Math.floor(share(store) * 100)} % full`,
      degraded: share(store) >= degraded.store_share,
    },
    ...vendorApiChecks(facts),
    ...absenceChecks(facts),
    ...followerChecks(facts),
    ...refusing.map((reason) => ({ about: 'refusing' as const, reason, degraded: true })),
  ]
}

function vendorApiChecks(facts: HealthFacts): Check[] {
  const { thin_without_key, key_refused, endpoint_findings, fetches_failed, vanished } = facts
  return [
    ...thin_without_key.map((name) => ({
      about: 'thin_events_without_key' as const,
      reason: `the connection ${name} receives thin events, which do not update billing state without an API key: add one, or have the vendor send snapshots if it can`,
      degraded: true,
    })),
    ...key_refused.map((name) => ({
      about: 'api_key_refused' as const,
      reason: `the vendor no longer accepts the API key of the connection ${name}: replace it, or remove it`,
      degraded: true,
    })),
    ...vanished.map((reason) => ({ about: 'format' as const, reason, degraded: true })),
    ...endpoint_findings.map((reason) => ({ about: 'vendor_endpoint' as const, reason, degraded: true })),
    {
      about: 'fetches_failed',
      reason: `${fetches_failed} ${fetches_failed === 1 ? 'object that was' : 'objects that were'} fetched in the last hour could not be applied: search for source=fetch&status=failed to see why`,
      degraded: fetches_failed >= THRESHOLDS.degraded.failed_fetches_last_60m,
    },
  ]
}

/** Checks for missing deliveries, events and renewals. */
function absenceChecks({ silent, renewals_missing, missed }: HealthFacts): Check[] {
  return [
    ...silent.map(({ name, ms }) => ({
      about: 'connection_silent' as const,
      reason: `the connection ${name} has accepted no deliveries for ${span(ms)}, which is unusual for these hours of the week: check its webhook endpoint in the vendor’s dashboard`,
      degraded: true,
    })),
    ...missed.map(({ name, n }) => ({
      about: 'events_missed' as const,
      reason: `since yesterday, ${n} events were not delivered to the connection ${name}, so the service read them from the vendor’s list: check its webhook endpoint in the vendor’s dashboard`,
      degraded: n >= MISSED_DEGRADED,
    })),
    ...renewals_missing.map(({ vendor, overdue, due }) => ({
      about: 'renewals_missing' as const,
      reason: `${overdue} of ${due} ${vendor} subscriptions that should have renewed in the last week are overdue, and nothing has been received about them: list subscriptions with overdue=true`,
      degraded: true,
    })),
  ]
}

function unwellReason({ url, state, disabled_reason }: HealthFacts['unwell'][number]): string {
  const host = URL.parse(url)?.host ?? url
  if (state === 'failing')
    return `the webhook endpoint at ${host} is failing: it gets one attempt at a time until one succeeds`
  const why = disabled_reason === 'gone' ? 'it responded with 410' : 'every attempt has failed for days'
  return `the webhook endpoint at ${host} was disabled, because ${why}`
}

/** What is wrong with those who follow the feed. */
function followerChecks({ watching: { skipped, unread_age_ms }, unwell }: HealthFacts): Check[] {
  return [
    ...unwell.map((endpoint) => ({
      about: 'webhook_endpoint' as const,
      reason: unwellReason(endpoint),
      degraded: true,
    })),
    {
      about: 'entitlements',
      reason: `the feed does not report the entitlements of ${skipped} ${skipped === 1 ? 'consumer' : 'consumers'}, because of too many subscriptions or grants`,
      degraded: skipped > 0,
    },
    {
      about: 'entitlements',
      reason: `entitlement changes are late: the oldest unprocessed change was made ${span(unread_age_ms)} ago`,
      degraded: unread_age_ms > THRESHOLDS.degraded.unread_age_ms,
    },
  ]
}

const share = ({ size_bytes, limit_bytes }: HealthFacts['store']) => (size_bytes ?? 0) / limit_bytes

/** A time in whole units: the largest of which there are at least two. */
function span(ms: number): string {
  if (ms < 2 * MINUTE) return `${Math.round(ms / SECOND)} s`
  return ms < 2 * HOUR ? `${Math.round(ms / MINUTE)} min` : `${Math.round(ms / HOUR)} h`
}
