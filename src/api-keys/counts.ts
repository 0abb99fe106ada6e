import { BoundedMap } from '../lib/bounded-map'
import { hex, hmac, utf8 } from '../lib/crypto'
import { networkAround } from '../lib/networks'
import { DAY, HOUR } from '../lib/time'
import { clientNamed } from '../lib/user-agent'
import {
  MAX_AGENT,
  MAX_COUNTED_KEYS,
  MAX_DAY_AGENTS,
  MAX_DAY_COUNTS,
  MAX_DAY_NETWORKS,
  MAX_REFUSED_CALLS,
  TRAFFIC_STEP,
} from './limits'
import type { RefusedCall, Seen } from './schema'

/** A request with a key, once it has been answered. */
export type Counted = {
  operation: string
  address: string
  country: string | null
  user_agent: string | null
  /** Set if it was refused. */
  refused: RefusedCall | null
}

/** The use of a key on a day, as it is stored. */
export type DayOfKey = { day: number; counts: Record<string, number>; seen: Seen }

type Counting = {
  day: number
  counts: Map<string, number>
  networks: Map<string, { country: string | null; at: number }>
  agents: Map<string, number>
  calls: RefusedCall[]
}

/** What this isolate has counted and not written yet, by key: its days, the newest first. */
const counting = new BoundedMap<string, Counting[]>(MAX_COUNTED_KEYS)
/** Days that one write can cover: just before midnight, just after it, and the day of the next use, which triggers the write. */
const DAYS_WAITING = 3

/** Counts a request in this isolate. No I/O, and bounded in memory. */
export function countRequest(id: string, { operation, address, country, user_agent, refused }: Counted, now: number) {
  const so = dayOf(id, Math.floor(now / DAY))
  add(so.counts, 'requests')
  add(so.counts, `at:${stepOf(now)}`)
  add(so.counts, `op:${operation}`)
  if (refused) add(so.counts, `refused:${refused.code}`)
  noteLast(so.networks, MAX_DAY_NETWORKS, address, { country, at: now })
  if (user_agent !== null) noteLast(so.agents, MAX_DAY_AGENTS, user_agent, now)
  if (refused) so.calls = [refused, ...so.calls].slice(0, MAX_REFUSED_CALLS)
}

function dayOf(id: string, day: number): Counting {
  const days = counting.get(id) ?? []
  if (days[0]?.day === day) return days[0]
  const fresh = { day, counts: new Map(), networks: new Map(), agents: new Map(), calls: [] }
  counting.set(id, [fresh, ...days].slice(0, DAYS_WAITING))
  return fresh
}

/** What this isolate has counted of a key, with a keyed hash in place of each address. It stays counted. */
export function countedOf(pepper: string, id: string): Promise<DayOfKey[]> {
  return Promise.all((counting.get(id) ?? []).map((one) => asDay(pepper, one)))
}

/** The numbers that this isolate has counted of a key and not written yet, by day. */
export function numbersOf(id: string): { day: number; counts: ReadonlyMap<string, number> }[] {
  return counting.get(id) ?? []
}

/** Returns what {@link countedOf} does, for a write, and forgets it. */
export function takeCounted(pepper: string, id: string): Promise<DayOfKey[]> {
  const counted = countedOf(pepper, id)
  counting.delete(id)
  return counted
}

async function asDay(pepper: string, { day, counts, networks, agents, calls }: Counting): Promise<DayOfKey> {
  const [numbers, seen] = [Object.fromEntries(counts), [...networks].reverse()]
  const agentsSeen = [...agents].reverse().map(([name, at]) => ({ name, at }))
  const shown = seen.map(async ([address, { country, at }]) => {
    return { hash: await addressHash(pepper, address), network: publicNetwork(address), country, at }
  })
  return { day, counts: numbers, seen: { networks: await Promise.all(shown), agents: agentsSeen, calls } }
}

/** An address as a keyed hash, so that the same one is recognized and none can be read. */
export async function addressHash(pepper: string, address: string): Promise<string> {
  return hex(await hmac('SHA-256', utf8(pepper), `key address:${address}`)).slice(0, 16)
}

/** What may be stored of an address: the /24 or /48 around it. */
function publicNetwork(address: string): string | null {
  return networkAround(address.replace('::/64', '::'), { v4: 24, v6: 48 })
}

/** The family of a user agent: `Chrome on Linux`, `curl`, `python-requests`. Null if it names none. */
export function familyOf(userAgent: string | null): string | null {
  return clientNamed(userAgent) ?? /^[A-Za-z][\w.-]*/.exec(userAgent ?? '')?.[0].slice(0, MAX_AGENT) ?? null
}

/** In which step of live traffic a time is. */
export const stepOf = (at: number) => Math.floor(at / TRAFFIC_STEP)
/** The first step of live traffic: they cover at least 50 minutes and at most an hour. */
export const firstStep = (now: number) => stepOf(now - HOUR) + 1

function add(counts: Map<string, number>, name: string): void {
  if (!counts.has(name) && counts.size >= MAX_DAY_COUNTS) return
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

function noteLast<V>(seen: Map<string, V>, most: number, name: string, value: V): void {
  seen.delete(name)
  if (seen.size >= most) seen.delete(seen.keys().next().value as string)
  seen.set(name, value)
}
