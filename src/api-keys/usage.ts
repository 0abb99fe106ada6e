import * as z from 'zod'
import { count, named, timestamp } from '../http/fields'
import { SAMPLE } from '../http/samples'
import { DAY, HOUR, iso, isoDay } from '../lib/time'
import { type DayOfKey, firstStep } from './counts'
import { MAX_REFUSED_CALLS, SHOWN_NETWORKS, SHOWN_OPERATIONS } from './limits'
import type { Seen } from './schema'

const address = z.object({
  hash: z.string().describe('A keyed hash: the same address always has the same one in this deployment.'),
  network: z.string().nullable().describe('The /24 or /48 around it. Null for callers without `audit_log:read`.'),
  country: z.string().nullable(),
  last_seen_at: timestamp,
})
const day = z.object({
  day: z.iso.date(),
  requests: count.describe('Refused ones too.'),
  refused: z.record(z.string(), count).describe('By error code.'),
  operations: z.array(z.object({ operation: z.string(), requests: count })).describe('The most frequent ones.'),
  addresses: z.array(address).describe('The last ones.'),
  user_agents: z.array(z.object({ name: z.string(), last_seen_at: timestamp })).describe('The last families.'),
})

/** How a key was used, as the API shows it. */
export const KeyUsage = named(
  'ApiKeyUsage',
  z.object({
    days: z.array(day).describe('The days (UTC) on which the key was used, the newest first.'),
    live_traffic: z
      .object({ requests: count, networks: count })
      .describe('The requests of the last hour, and from how many addresses they came.'),
    refused_calls: z
      .array(
        z.object({
          at: timestamp,
          method: z.string(),
          route: z.string(),
          status: z.int(),
          code: z.string(),
          request_id: z.string(),
        }),
      )
      .describe(`The last ${MAX_REFUSED_CALLS} calls with the key that were refused.`),
  }),
  {
    days: [
      {
        day: '2026-06-01',
        requests: 120,
        refused: { insufficient_scope: 2 },
        operations: [{ operation: 'searchWebhookEvents', requests: 118 }],
        addresses: [{ hash: '5f0c1bd20a1e4a7e', network: '192.0.2.0/24', country: 'NL', last_seen_at: SAMPLE.time }],
        user_agents: [{ name: 'Node.js', last_seen_at: SAMPLE.time }],
      },
    ],
    live_traffic: { requests: 12, networks: 1 },
    refused_calls: [],
  },
)
type Usage = z.infer<typeof KeyUsage>

/** Days with what was counted beside them, the newest first. */
export function mergedDays(stored: readonly DayOfKey[], counted: readonly DayOfKey[]): DayOfKey[] {
  const days = new Map<number, DayOfKey>()
  for (const one of [...stored, ...counted]) days.set(one.day, merged(days.get(one.day), one))
  return [...days.values()].toSorted((a, b) => b.day - a.day)
}

function merged(a: DayOfKey | undefined, b: DayOfKey): DayOfKey {
  if (!a) return b
  const counts = { ...a.counts }
  for (const [name, n] of Object.entries(b.counts)) counts[name] = (counts[name] ?? 0) + n
  const seen: Seen = {
    networks: newest([...b.seen.networks, ...a.seen.networks], ({ hash }) => hash),
    agents: newest([...b.seen.agents, ...a.seen.agents], ({ name }) => name),
    calls: newest([...b.seen.calls, ...a.seen.calls], ({ request_id }) => request_id),
  }
  return { day: a.day, counts, seen }
}

function newest<T extends { at: number }>(list: T[], by: (one: T) => string): T[] {
  const sorted = list.toSorted((a, b) => b.at - a.at)
  return [...new Map(sorted.toReversed().map((one) => [by(one), one])).values()].toSorted((a, b) => b.at - a.at)
}

/** How a key was used. @param seesNetworks whether the caller may know more of addresses than their hashes */
export function presentUsage(days: readonly DayOfKey[], now: number, seesNetworks: boolean): Usage {
  const calls = newest(
    days.flatMap(({ seen }) => seen.calls),
    ({ request_id }) => request_id,
  )
  return {
    days: days.map((one) => presentDay(one, seesNetworks)),
    live_traffic: liveTraffic(days, now),
    refused_calls: calls.slice(0, MAX_REFUSED_CALLS).map(({ at, ...call }) => ({ at: iso(at), ...call })),
  }
}

/** The requests of the last hour, at least, and from how many addresses they came. */
export function liveTraffic(days: readonly DayOfKey[], now: number): Usage['live_traffic'] {
  const since = firstStep(now)
  const steps = days.flatMap(({ counts }) => countsOf(counts, 'at:')).filter(([step]) => Number(step) >= since)
  const recent = days.flatMap(({ seen }) => seen.networks).filter(({ at }) => at > now - HOUR)
  return { requests: steps.reduce((sum, [, n]) => sum + n, 0), networks: new Set(recent.map(({ hash }) => hash)).size }
}

function presentDay({ day, counts, seen }: DayOfKey, seesNetworks: boolean): Usage['days'][number] {
  const operations = countsOf(counts, 'op:').toSorted(([, a], [, b]) => b - a)
  return {
    day: isoDay(day * DAY),
    requests: counts.requests ?? 0,
    refused: Object.fromEntries(countsOf(counts, 'refused:')),
    operations: operations.slice(0, SHOWN_OPERATIONS).map(([operation, requests]) => ({ operation, requests })),
    addresses: seen.networks.slice(0, SHOWN_NETWORKS).map(({ hash, network, country, at }) => ({
      hash,
      network: seesNetworks ? network : null,
      country,
      last_seen_at: iso(at),
    })),
    user_agents: seen.agents.map(({ name, at }) => ({ name, last_seen_at: iso(at) })),
  }
}

/** The counts whose names begin with these words, without them. */
function countsOf(counts: DayOfKey['counts'], prefix: string): [name: string, n: number][] {
  return Object.entries(counts).flatMap(([name, n]) =>
    name.startsWith(prefix) ? [[name.slice(prefix.length), n]] : [],
  )
}
