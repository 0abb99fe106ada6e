import type { Context } from 'hono'
import type { LimitName, Runtime } from '../env'
import { BoundedMap } from '../lib/bounded-map'
import { Fault } from '../lib/fault'
import { DAY, SECOND } from '../lib/time'
import type { Actor } from './actor'
import type { HttpEnv } from './context'
import {
  BLOCK_MS,
  COSTLY_ROWS,
  DAILY_ENTRIES,
  DAILY_LIMIT,
  HEAVY_FOR_MS,
  MAX_COSTLY_UNITS,
  MAX_PAUSED,
  PROJECT_PAUSE_MS,
  RATE_LIMITS,
  RETRY_AFTER,
  TURN_WAIT_MS,
} from './limits'
import { writeLog } from './log'
import { matchedRoute } from './meta'
import type { Counted } from './policy'
import { waitForTurn } from './turns'

/**
 * Counts one request against a rate limit. The binding counts per Cloudflare location and returns only yes or no, so
 * the limit is approximate.
 *
 * @throws {Fault} `rate_limited` (429, with Retry-After)
 */
export async function limit(limits: Runtime['limits'], name: LimitName, key: string, detail: string): Promise<void> {
  if (!(await isWithin(limits[name], key))) throw rateLimited(name, detail, RETRY_AFTER)
}

/**
 * Counts one request, and says whether it is within the limit. A limiter that fails lets it through: limits protect the
 * service from overload, and must not stop it themselves.
 */
export async function isWithin(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success
  } catch (error) {
    writeLog('error', 'rate_limit_not_checked', { error: String(error) })
    return true
  }
}

/**
 * The refusal of a caller over a limit. It states the limit in the fields of draft-ietf-httpapi-ratelimit-headers. They
 * are not sent with other responses, because the binding does not say how much remains.
 *
 * @param seconds how long to wait
 */
export function rateLimited(name: LimitName, detail: string, seconds: number): Fault {
  return overLimit({ name, ...RATE_LIMITS[name] }, `${detail} Wait and try again.`, seconds)
}

/** As {@link rateLimited}, for a limit of so many requests in a window (seconds) that is not one of the bindings. */
export function overLimit(limit: Stated, detail: string, seconds: number): Fault {
  return new Fault('rate_limited', detail, { headers: headersOf(limit, seconds) })
}

type Stated = { name: string; requests: number; window: number }

function headersOf({ name, requests, window }: Stated, seconds: number): Record<string, string> {
  return {
    'Retry-After': String(seconds),
    RateLimit: `"${name}";r=0;t=${seconds}`,
    'RateLimit-Policy': `"${name}";q=${requests};w=${window}`,
  }
}

/** For a project that has changed as much in the directory as it may on a day. It may go on at midnight, UTC. */
export function dailyLimit(now: number): Fault {
  const seconds = Math.ceil((DAY - (now % DAY)) / SECOND)
  const limit = { name: 'daily_changes', requests: DAILY_ENTRIES, window: DAY / SECOND }
  return new Fault(
    DAILY_LIMIT,
    'The project, its members, invitations, domains and single sign-on connections were changed too often today. API keys have a smaller share than people. Wait until midnight UTC.',
    { headers: headersOf(limit, seconds) },
  )
}

const TOO_MANY = {
  caller_writes: 'This API key or person has sent too many write requests.',
  caller_costly: 'This API key or person has sent too many costly requests, such as previews and explanations.',
  user_costly:
    'The API keys minted by the same user as this one have together sent too many costly requests, across all projects.',
  project_reads: 'This project has sent too many read requests.',
  project_writes: 'This project has sent too many write requests.',
  project_costly: 'This project has sent too many costly requests, such as previews, explanations and bulk replays.',
}

const READ_MUCH = `Calls of this kind read more than ${COSTLY_ROWS} rows of this project each, and there were too many of them.`

const ONE_AT_A_TIME =
  'Costly calls run one at a time for each project, for each person, and for all keys minted by one user. Others came first.'

/** Until when calls of a route take turns (ms), by route, project and kind of caller: one of them has read many rows. */
const heavy = new BoundedMap<string, number>(MAX_PAUSED)

/** Until when this isolate refuses calls (ms), by limit and whose calls they are, and perhaps by route. */
const paused = new BoundedMap<string, number>(MAX_PAUSED)

/** A limit that a call counts against, and as whose. */
type Share = { name: keyof typeof TOO_MANY; key: string }

/**
 * Counts a call against the limits of its project, however many keys the project has. A costly call first counts against the shares
 * of its caller. Only a caller whose credentials are good is counted: others could use up what a project has by naming its id. API
 * keys and people count apart, so that a key in the wrong hands does not keep the team from revoking it.
 *
 * @throws {Fault} `rate_limited`
 */
export async function countForProject(c: Context<HttpEnv>, counted: Counted, actor: Actor): Promise<void> {
  refusePaused(c, counted, actor)
  const { limits, now } = c.get('rt')
  const isCostly = takesMuch(c, counted)
  const shares = sharesOf(c, counted, actor)
  c.set('costly', isCostly && shares.length > 0)
  for (const { name, key } of shares) {
    if (await isWithin(limits[name], key)) continue
    paused.set(`${name}:${key}`, now + PROJECT_PAUSE_MS)
    throw rateLimited(name, TOO_MANY[name], RETRY_AFTER)
  }
  if (shares.length === 0) return
  if (isCostly || (heavy.get(`${routeOf(c)}:${groupOf(actor)}`) ?? 0) > now) await takeTurn(c, actor)
}

/**
 * Refuses a caller who, or whose project, was over a limit a moment ago, before any I/O.
 *
 * @throws {Fault} `rate_limited`
 */
export function refusePaused(c: Context<HttpEnv>, counted: Counted, actor: Actor): void {
  const shares = sharesOf(c, counted, actor)
  if (shares.length === 0) return
  for (const { name, key } of shares) {
    if (isPaused(c, `${name}:${key}`)) throw rateLimited(name, TOO_MANY[name], RETRY_AFTER)
  }
  for (const { name, key } of costlyShares(actor)) {
    if (isPaused(c, `${routeOf(c)}:${name}:${key}`)) throw rateLimited(name, READ_MUCH, RETRY_AFTER)
  }
}

const isPaused = (c: Context<HttpEnv>, key: string) => (paused.get(key) ?? 0) > c.get('rt').now

/**
 * Counts a call as a costly one after it has read many rows: how many depends on what the project has, so its route alone does
 * not tell. It counts once for each {@link COSTLY_ROWS}. Over a limit, this isolate refuses calls of that route for a while,
 * but only those that share the limit that is used up.
 */
export async function countRead(c: Context<HttpEnv>, rows: number): Promise<void> {
  const actor = c.get('actor') as Actor | undefined
  if (rows <= COSTLY_ROWS || !actor?.project_id) return
  const { limits, now } = c.get('rt')
  heavy.set(`${routeOf(c)}:${groupOf(actor)}`, now + HEAVY_FOR_MS)
  const units = Math.min(Math.floor(rows / COSTLY_ROWS), MAX_COSTLY_UNITS)
  for (let n = c.get('costly') ? 1 : 0; n < units; n++) {
    for (const { name, key } of costlyShares(actor)) {
      if (await isWithin(limits[name], key)) continue
      return void paused.set(`${routeOf(c)}:${name}:${key}`, now + BLOCK_MS)
    }
  }
}

/**
 * Costly calls of a project, and of one user in all projects, run one after the other in an isolate. Side by side, they would occupy
 * its database and its processor, and all others would wait. The turn ends with `endTurn` of the context.
 *
 * @throws {Fault} `rate_limited` if the turn does not come in time
 */
async function takeTurn(c: Context<HttpEnv>, actor: Actor): Promise<void> {
  const end = await waitForTurn(costlyTurn(actor), Date.now() + TURN_WAIT_MS)
  if (end === null) throw rateLimited('project_costly', ONE_AT_A_TIME, RETRY_AFTER)
  c.set('endTurn', end)
}

/**
 * Does a part of a costly call whose answer is under way, so that its own turn has ended, in a turn of its own. It waits for as long as
 * it takes: an answer that has begun cannot be refused any more.
 */
export async function inTurn<T>(actor: Actor, part: () => Promise<T>): Promise<T> {
  const end = await waitForTurn(costlyTurn(actor), Number.POSITIVE_INFINITY)
  try {
    return await part()
  } finally {
    end?.()
  }
}

/** What a costly call of this actor needs for itself. */
const costlyTurn = (actor: Actor) => [groupOf(actor), `${userOf(actor)}:${actor.type}`]

/** Such as `GET /platform/v1/api-keys/:id`; `none` where no route matched. */
export function routeOf(c: Context<HttpEnv>): string {
  const route = matchedRoute(c)
  return route ? `${route.method} ${route.path}` : 'none'
}

/** The limits that a call counts against; none if it always must work, or if it reads and concerns no project. */
function sharesOf(c: Context<HttpEnv>, counted: Counted & { reads?: boolean }, actor: Actor): Share[] {
  if (counted.later || (counted.ends && actor.type === 'session')) return []
  const own: Share = { name: 'caller_writes', key: callerOf(actor) }
  const isRead = counted.reads || c.req.method === 'GET'
  if (actor.project_id === null) return isRead ? [] : [own]
  if (takesMuch(c, counted)) return costlyShares(actor)
  if (isRead) return [{ name: 'project_reads', key: groupOf(actor) }]
  return [own, { name: 'project_writes', key: groupOf(actor) }]
}

/**
 * The limits of costly calls, the narrowest first: a call that one refuses does not count against the wider ones. A person has one
 * share, whatever the session and the project. A key has a share of its own, and another one together with all keys of its minter.
 */
function costlyShares(actor: Actor): Share[] {
  const project: Share = { name: 'project_costly', key: groupOf(actor) }
  const own: Share = { name: 'caller_costly', key: callerOf(actor) }
  return actor.type === 'session' ? [own, project] : [own, { name: 'user_costly', key: userOf(actor) }, project]
}

/** All API keys of a project, or all its people. */
function groupOf(actor: Actor): string {
  return `${actor.project_id}:${actor.type}`
}

/** An API key, or a person with all sessions. */
function callerOf(actor: Actor): string {
  return actor.type === 'session' ? actor.user_id : actor.id
}

function userOf(actor: Actor): string {
  return actor.type === 'session' ? actor.user_id : actor.minted_by
}

function takesMuch(c: Context<HttpEnv>, { costly }: Counted): boolean {
  return Array.isArray(costly) ? costly.some((name) => isAsked(c.req.query(name))) : costly === true
}

/** Whether a query parameter asks for something. */
function isAsked(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false'
}
