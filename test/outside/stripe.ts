import { type Account, type Api, apiHost, held, type Item } from './account.ts'
import { writeStripe } from './stripe-writes.ts'

/*
 * `api.stripe.com` for tests: reading. Bodies and rules as https://docs.stripe.com/api states them; a test pages it with Stripe's own SDK.
 */

/** By path: the type of its objects. */
const TYPES: Record<string, string> = {
  customers: 'customer',
  subscriptions: 'subscription',
  invoices: 'invoice',
  payment_methods: 'payment_method',
  'checkout/sessions': 'checkout.session',
  prices: 'price',
  products: 'product',
  events: 'event',
  webhook_endpoints: 'webhook_endpoint',
}
/** Lists inside an object: by type and field, the path of the whole list. */
const INSIDE: Record<string, [field: string, path: (id: string) => string]> = {
  subscription: ['items', (id) => `/v1/subscription_items?subscription=${id}`],
  invoice: ['lines', (id) => `/v1/invoices/${id}/lines`],
  'checkout.session': ['line_items', (id) => `/v1/checkout/sessions/${id}/line_items`],
}
const FILTERS = ['customer', 'subscription', 'status', 'type', 'active', 'product', 'price', 'payment_intent']
/** What a list of subscriptions leaves out unless it is asked for. */
const ENDED = ['canceled', 'incomplete_expired']

export const stripe = apiHost({
  keyOf: (request) => /^Bearer (\S+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null,
  unknown: (key) =>
    refusal(401, {
      type: 'invalid_request_error',
      message: key === null ? 'You did not provide an API key.' : `Invalid API Key provided: ${masked(key)}`,
    }),
  failed(status) {
    if (status === 401)
      return refusal(401, {
        type: 'invalid_request_error',
        code: 'api_key_expired',
        message: 'Expired API Key provided',
      })
    if (status === 429)
      return refusal(429, {
        type: 'invalid_request_error',
        code: 'rate_limit',
        message: 'Request rate limit exceeded.',
      })
    if (status < 400) return Response.json({}, { status })
    return refusal(status, { type: 'api_error', message: 'An unknown error occurred' })
  },
  answer,
  write: writeStripe,
} satisfies Api)

function answer({ pathname, searchParams: query }: URL, account: Account, key: string): Response {
  const [, version = '', ...parts] = pathname.split('/')
  if (version === 'v2' && parts[1] === 'event_destinations') return destinations(account)
  if (version === 'v2') return retrieve(account, query, 'v2.core.event', parts[2] ?? '')
  const path = parts[0] === 'checkout' ? 'checkout/sessions' : (parts[0] ?? '')
  const [id, sub] = parts.slice(path.split('/').length)
  const expands = [...query.values()].some((value) => value.endsWith('default_payment_method'))
  const needed = [path, ...(sub === 'payment_methods' || expands ? ['payment_methods'] : [])]
  const lacking = needed.find((one) => account.refused?.includes(one))
  if (lacking !== undefined) return forbidden(key, lacking)
  if (path === 'subscription_items') return within(account, query, 'subscription', query.get('subscription') ?? '')
  const type = TYPES[path]
  if (!type)
    return refusal(404, { type: 'invalid_request_error', message: `Unrecognized request URL (GET: ${pathname}).` })
  if (id === undefined) return list(account, query, pathname, ofType(account, type, query))
  if (sub === 'lines' || sub === 'line_items') return within(account, query, type, id)
  if (sub === 'payment_methods') {
    query.set('customer', id)
    return list(account, query, pathname, ofType(account, 'payment_method', query))
  }
  return retrieve(account, query, type, id)
}

function ofType(account: Account, type: string, query: URLSearchParams): Item[] {
  const status = query.get('status')
  const types = [...query].filter(([name]) => /^types\[\d*\]$/.test(name)).map(([, value]) => value)
  return (
    held(account)
      .filter((one) => one.object === type && one.deleted !== true)
      // Those of customers are listed by customer only.
      .filter((one) => type !== 'payment_method' || query.has('customer') || !one.customer)
      .filter((one) => type !== 'subscription' || status !== null || !ENDED.includes(String(one.status)))
      .filter((one) => FILTERS.every((name) => matches(one[name], query.get(name), name === 'status' && type)))
      .filter((one) => types.length === 0 || types.includes(String(one.type)))
      .filter((one) => isWithin(Number(one.created), query))
      .sort((a, b) => Number(b.created ?? 0) - Number(a.created ?? 0))
  )
}

function matches(value: unknown, wanted: string | null, status: string | false): boolean {
  if (wanted === null || (status === 'subscription' && wanted === 'all')) return true
  const own = typeof value === 'object' && value !== null ? (value as Item).id : value
  return String(own) === wanted
}

function isWithin(created: number, query: URLSearchParams): boolean {
  const bound = (name: string, ok: (limit: number) => boolean) => {
    const given = query.get(`created[${name}]`)
    return given === null || ok(Number(given))
  }
  return (
    bound('gt', (limit) => created > limit) &&
    bound('gte', (limit) => created >= limit) &&
    bound('lt', (limit) => created < limit) &&
    bound('lte', (limit) => created <= limit)
  )
}

function list(account: Account, query: URLSearchParams, url: string, all: Item[]): Response {
  const most = Math.min(Number(query.get('limit') ?? 10), 100, account.page_most ?? 100)
  const after = query.get('starting_after')
  const before = query.get('ending_before')
  const cursor = after ?? before
  const at = all.findIndex(({ id }) => id === cursor)
  if (cursor !== null && at < 0) return missing(cursor, after === null ? 'ending_before' : 'starting_after', 400)
  const rest = before === null ? all.slice(at + 1) : all.slice(0, at)
  const data = before === null ? rest.slice(0, most) : rest.slice(-most)
  return Response.json({
    object: 'list',
    data: data.map((one) => shown(account, one, expansions(query, 'data.'))),
    has_more: rest.length > most,
    url,
  })
}

function destinations(account: Account): Response {
  if (account.refused?.includes('event_destinations')) return refusal(403, { type: 'invalid_request_error' })
  const data = held(account).filter((one) => one.object === 'v2.core.event_destination')
  return Response.json({ data, next_page_url: null, previous_page_url: null })
}

/** The whole of a list inside an object. */
function within(account: Account, query: URLSearchParams, type: string, id: string): Response {
  const object = account.objects[id]
  const [field = ''] = INSIDE[type] ?? []
  if (!object) return missing(id, type, 404)
  return list({ ...account, cut: Number.POSITIVE_INFINITY }, query, `/v1/${field}`, elements(object[field]))
}

function elements(value: unknown): Item[] {
  return Array.isArray(value) ? value : (((value as Item | undefined)?.data ?? []) as Item[])
}

function retrieve(account: Account, query: URLSearchParams, type: string, id: string): Response {
  const object = account.objects[id]
  if (object?.object !== type) return missing(id, 'id', 404)
  if (object.deleted === true) return Response.json({ id, object: type, deleted: true })
  return Response.json(shown(account, object, expansions(query, '')))
}

/** An object as the API sends it: lists inside it are cut, and what is to be expanded is. */
function shown(account: Account, object: Item, expand: string[][]): Item {
  const copy = structuredClone(object)
  // It is shown once, to whoever makes the endpoint.
  if (object.object === 'webhook_endpoint') delete copy.secret
  const [field, path] = INSIDE[String(object.object)] ?? []
  if (field !== undefined && path && copy[field] !== undefined) {
    const all = elements(copy[field])
    const data = all.slice(0, account.cut ?? 10)
    copy[field] = { object: 'list', data, has_more: data.length < all.length, url: path(String(object.id)) }
  }
  // These are left out unless they are asked for.
  if (!expand.some(([name]) => name === 'line_items')) delete copy.line_items
  for (const way of expand) expandIn(account, copy, way)
  return copy
}

function expansions(query: URLSearchParams, prefix: string): string[][] {
  return [...query]
    .filter(([name]) => /^expand\[\d*\]$/.test(name))
    .filter(([, way]) => way.startsWith(prefix))
    .map(([, way]) => way.slice(prefix.length).split('.'))
}

function expandIn(account: Account, object: Item, [field = '', ...rest]: string[]): void {
  const value = object[field]
  const known = typeof value === 'string' ? account.objects[value] : null
  if (known) object[field] = shown(account, known, [])
  const inner = object[field]
  if (rest.length > 0 && typeof inner === 'object' && inner !== null) expandIn(account, inner as Item, rest)
}

export function missing(id: string, param: string, status: number): Response {
  return refusal(status, {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param,
    message: `No such object: '${id}'`,
  })
}

export function forbidden(key: string, path: string, may = 'read'): Response {
  const permission = `rak_${path.replace(/s$/, '').replaceAll('/', '_')}_${may}`
  const message = `The provided key '${masked(key)}' does not have the required permissions for this endpoint on account 'acct_1TESTS'. Having the '${permission}' permission would allow this request to continue.`
  return refusal(403, { type: 'invalid_request_error', message })
}

export function refusal(status: number, error: Item): Response {
  const doc_url =
    error.code === undefined
      ? undefined
      : `https://stripe.com/docs/error-codes/${String(error.code).replaceAll('_', '-')}`
  const body = { error: doc_url === undefined ? error : { ...error, doc_url } }
  return Response.json(body, { status, headers: { 'Request-Id': `req_${crypto.randomUUID().slice(0, 14)}` } })
}

const masked = (key: string) => `${key.slice(0, 8)}${'*'.repeat(16)}${key.slice(-4)}`
