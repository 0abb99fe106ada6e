import { type Account, type Api, apiHost, held, type Item } from './account.ts'
import { writePaddle } from './paddle-writes.ts'

/*
 * `api.paddle.com` and `sandbox-api.paddle.com` for tests: reading. Bodies and rules as https://developer.paddle.com/api-reference states them;
 * a test pages it with Paddle's own SDK.
 */

/** By path: how the ids of its entities begin, and the entity in the name of its permission. */
const ENTITIES: Record<string, [prefix: string, entity: string]> = {
  customers: ['ctm_', 'customer'],
  subscriptions: ['sub_', 'subscription'],
  transactions: ['txn_', 'transaction'],
  'payment-methods': ['paymtd_', 'payment_method'],
  prices: ['pri_', 'price'],
  products: ['pro_', 'product'],
  events: ['evt_', 'event'],
  'notification-settings': ['ntfset_', 'notification_setting'],
}
const FILTERS = ['customer_id', 'subscription_id', 'status', 'product_id', 'id', 'event_type']

export const paddle = apiHost({
  keyOf: (request) => /^Bearer (\S+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null,
  unknown: (key) =>
    key === null
      ? refusal(403, 'authentication_missing', 'Authentication header missing.')
      : refusal(403, 'invalid_token', 'Invalid or revoked API key.'),
  failed(status) {
    if (status === 401 || status === 403) return refusal(403, 'invalid_token', 'Invalid or revoked API key.')
    if (status === 429) return refusal(429, 'too_many_requests', 'IP address exceeded the allowed rate limit.')
    if (status < 400) return Response.json({}, { status })
    return refusal(status, 'internal_error', 'An unexpected error has occurred.')
  },
  answer,
  write: writePaddle,
} satisfies Api)

function answer(url: URL, account: Account, key: string): Response {
  const isLive = key.startsWith('pdl_live_')
  // Each environment has its own keys.
  if (isLive !== (url.hostname === 'api.paddle.com'))
    return refusal(403, 'invalid_token', 'Invalid or revoked API key.')
  const [path = '', id, sub, subId] = url.pathname.slice(1).split('/')
  if (path === '') return one(rootOf(account, isLive))
  const name = sub ?? path
  const [prefix, entity] = ENTITIES[name] ?? []
  if (prefix === undefined || entity === undefined) return refusal(404, 'invalid_url', 'The URL is not valid.')
  if (!permissionsOf(account).some((may) => may.startsWith(`${entity}.`)))
    return refusal(403, 'forbidden', "You aren't permitted to perform this request.")
  const wanted = sub === undefined ? id : subId
  if (wanted !== undefined) {
    const found = account.objects[wanted]
    return found && wanted.startsWith(prefix) ? one(found) : refusal(404, 'not_found', `Entity ${wanted} not found`)
  }
  if (sub !== undefined && id !== undefined) url.searchParams.set('customer_id', id)
  return list(url, account, prefix)
}

function rootOf(account: Account, isLive: boolean): Item {
  const environment = isLive ? 'production' : 'sandbox'
  return {
    api: { name: 'Paddle API', version: '1', environment, documentation_url: 'https://developer.paddle.com/' },
    caller: { auth_type: 'api_key', account: { id: 'acc_1', name: 'Acme' }, permissions: permissionsOf(account) },
  }
}

export function permissionsOf({ permissions, refused = [], writes }: Account): string[] {
  const all = Object.entries(ENTITIES).filter(([path]) => !refused.includes(path))
  const written = writes ? ['notification_setting.write'] : []
  return permissions ?? [...all.map(([, [, entity]]) => `${entity}.read`), ...written]
}

/** Ids grow with time, and the order is by id: a cursor need not exist any more. */
function list(url: URL, account: Account, prefix: string): Response {
  const { searchParams: query } = url
  const ascending = query.get('order_by')?.toUpperCase() === 'ID[ASC]'
  const all = held(account)
    .filter(({ id }) => String(id).startsWith(prefix))
    .filter((it) => FILTERS.every((name) => query.get(name)?.split(',').includes(String(it[name])) ?? true))
    .filter((it) => String(it.created_at ?? '') >= (query.get('created_at[GTE]') ?? ''))
    .sort((a, b) => (String(a.id) < String(b.id) === ascending ? -1 : 1))
  const limit = Math.min(Number(query.get('per_page') ?? 50), prefix === 'txn_' ? 30 : 200, account.page_most ?? 200)
  const after = query.get('after')
  const rest = after === null ? all : all.filter(({ id }) => String(id) !== after && String(id) > after === ascending)
  const data = rest.slice(0, limit)
  const next = new URL(url)
  next.searchParams.set('per_page', String(limit))
  next.searchParams.set('after', String(data.at(-1)?.id ?? after ?? ''))
  const pagination = { per_page: limit, next: next.href, has_more: rest.length > limit, estimated_total: all.length }
  const shown =
    query.get('include') === 'product'
      ? data.map((price) => ({ ...price, product: account.objects[String(price.product_id)] }))
      : data
  return Response.json({ data: shown, meta: { request_id: crypto.randomUUID(), pagination } })
}

export function one(data: Item, status = 200): Response {
  return Response.json({ data, meta: { request_id: crypto.randomUUID() } }, { status })
}

export function refusal(status: number, code: string, detail: string): Response {
  const type = status === 429 || status >= 500 ? 'api_error' : 'request_error'
  const documentation_url = `https://developer.paddle.com/errors/shared/${code}`
  const body = { error: { type, code, detail, documentation_url }, meta: { request_id: crypto.randomUUID() } }
  return Response.json(body, { status })
}
