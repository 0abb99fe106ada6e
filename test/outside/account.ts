import { setTimeout as sleep } from 'node:timers/promises'
import { type Handler, type Host, hostOf } from './hosts.ts'

/*
 * Accounts at vendors, and how their APIs behave. All accounts of a vendor share its host, so what a test sets is kept by API key
 * (`setHost(key, …)`): a key that no test has set is unknown there, as a wrong one is.
 */

export type Item = Record<string, unknown>

export type Account = {
  /** What the account holds, by id; null is gone. One with `deleted: true` is not listed, and is shown without its fields. */
  objects: Record<string, Item | null>
  /** Kinds that the key may not read, as the API's paths call them: `invoices`, `payment_methods`. */
  refused?: string[]
  /** Waits before each answer. */
  latency_ms?: number
  /** Never answers. */
  hang?: boolean
  /** The vendor's clock, from ours: its `Date` header. Null: no such header. */
  date_skew_s?: number | null
  /** A run of answers that are not its own. */
  fail?: Failing
  /** The largest page, whatever is asked for. */
  page_most?: number
  /** How many elements of a list inside an object are sent with it; ten by default. */
  cut?: number
  /** Whether the key may change webhook endpoints. */
  writes?: boolean
  /** The largest number of webhook endpoints. */
  endpoints_most?: number
  /** The key of another account: this is another key of that one, with permissions of its own. */
  same_as?: string
  /** Lemon Squeezy: whether the key is of test mode. */
  test_mode?: boolean
  /** Chargebee: the site of the key; any if absent. */
  site?: string
  /** Paddle: what its root says that the key may. By default, all that is read and not refused. */
  permissions?: string[]
}

/** `after`: answers before it begins. `times`: how many there are, all by default. `path`: only for paths that contain it. `method`: only this one. */
export type Failing = {
  status: number
  method?: string
  times?: number
  after?: number
  path?: string
  retry_after?: string
  body?: string
}

/** A vendor's API over an account that knows the key. */
export type Api = {
  /** The key of a request; null if it has none. */
  keyOf: (request: Request) => string | null
  /** The answer to a key that the vendor does not know. */
  unknown: (key: string | null) => Response
  /** The vendor's own answer with such a status. */
  failed: (status: number) => Response
  answer: (url: URL, account: Account, key: string) => Response
  /** The answer to a request that changes something. */
  write?: (request: { method: string; url: URL; body: string }, account: Account, key: string) => Response
}

/** A host of a vendor's API. */
export function apiHost(api: Api): Handler {
  return async (request) => {
    const key = api.keyOf(request)
    const host = key === null ? null : hostOf(key)
    const own = host?.settings as Account | undefined
    const other = own?.same_as === undefined ? null : (hostOf(own.same_as).settings as Account)
    const account = own && other ? { ...other, ...own, objects: other.objects } : own
    const body = await request.clone().text()
    host?.seen.push({
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(request.headers),
      body,
    })
    if (key === null || !host || !account?.objects) return api.unknown(key)
    if (account.hang) await new Promise(() => {})
    if (account.latency_ms) await sleep(account.latency_ms)
    const url = new URL(request.url)
    const failing = failingNow(host, account, url, request.method)
    if (!failing && request.method !== 'GET' && api.write)
      return dated(api.write({ method: request.method, url, body }, account, key), account)
    if (!failing) return dated(api.answer(url, account, key), account)
    const plain = api.failed(failing.status)
    const response =
      failing.body === undefined ? plain : new Response(failing.body, { status: plain.status, headers: plain.headers })
    if (failing.retry_after !== undefined) response.headers.set('Retry-After', failing.retry_after)
    return dated(response, account)
  }
}

/** The run of failures that this request falls into. What is left of it is counted in the settings. */
function failingNow(host: Host, account: Account, url: URL, sent: string): Failing | null {
  const { fail } = account
  if (!fail || (fail.path !== undefined && !url.pathname.includes(fail.path))) return null
  if (fail.method !== undefined && fail.method !== sent) return null
  const { after = 0, times } = fail
  if (after > 0) {
    host.settings.fail = { ...fail, after: after - 1 }
    return null
  }
  if (times !== undefined) host.settings.fail = times > 1 ? { ...fail, times: times - 1 } : undefined
  return fail
}

function dated(response: Response, { date_skew_s = 0 }: Account): Response {
  if (date_skew_s !== null) response.headers.set('Date', new Date(Date.now() + date_skew_s * 1000).toUTCString())
  return response
}

/** What the account has, without what is gone. */
export function held({ objects }: Account): Item[] {
  return Object.values(objects).filter((one) => one !== null)
}
