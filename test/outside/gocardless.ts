import { type Account, type Api, apiHost, held, type Item } from './account.ts'

/*
 * `api.gocardless.com` and `api-sandbox.gocardless.com` for tests. Rules and errors as https://developer.gocardless.com/api-reference/ states them: a
 * token works in its own environment, each request names the version, and objects name a mandate, which names the customer.
 */

export const gocardless = apiHost({
  keyOf(request) {
    const token = /^Bearer ((live|sandbox)_[\w-]+)$/.exec(request.headers.get('Authorization') ?? '')
    const isHere = new URL(request.url).hostname === (token?.[2] === 'live' ? LIVE : SANDBOX)
    return request.headers.get('GoCardless-Version') === '2015-07-06' && isHere ? (token?.[1] ?? null) : null
  },
  unknown: () => refusal(401, 'access_token_not_found'),
  failed: (status) =>
    status < 400 ? Response.json({}, { status }) : refusal(status, REASONS[status] ?? 'bad_request'),
  answer(url, account) {
    const [, type = '', id] = url.pathname.split('/')
    if (account.refused?.includes(type)) return refusal(403, 'insufficient_permissions')
    if (id === undefined) return list(url, type, account)
    const one = account.objects[id]
    return one && isOf(type, one) ? Response.json({ [type]: one }) : refusal(404, 'resource_not_found')
  },
} satisfies Api)

const LIVE = 'api.gocardless.com'
const SANDBOX = 'api-sandbox.gocardless.com'

const PREFIXES: Readonly<Record<string, string>> = {
  customers: 'CU',
  mandates: 'MD',
  payments: 'PM',
  subscriptions: 'SB',
}

const isOf = (type: string, { id }: Item) => String(id).startsWith(PREFIXES[type] ?? '?')

type Links = { mandate?: string; customer?: string }

/** The newest first. */
function list({ searchParams: query }: URL, type: string, account: Account): Response {
  const customer = query.get('customer')
  const ownerOf = ({ links }: Item) =>
    (account.objects[(links as Links | undefined)?.mandate ?? '']?.links as Links | undefined)?.customer
  const all = held(account)
    .filter((one) => isOf(type, one) && (customer === null || ownerOf(one) === customer))
    .sort((a, b) => (String(a.created_at) < String(b.created_at) ? 1 : -1))
  const page = all.slice(0, Math.min(Number(query.get('limit') ?? 50), 500))
  const after = page.length < all.length ? page.at(-1)?.id : null
  return Response.json({ [type]: page, meta: { cursors: { before: null, after }, limit: page.length } })
}

const REASONS: Readonly<Record<number, string>> = {
  401: 'access_token_not_active',
  403: 'insufficient_permissions',
  404: 'resource_not_found',
  429: 'rate_limit_exceeded',
  500: 'internal_server_error',
  503: 'internal_server_error',
}

function refusal(code: number, reason: string): Response {
  const type = code >= 500 ? 'gocardless' : 'invalid_api_usage'
  const errors = [{ reason, message: 'Of the tests.' }]
  return Response.json({ error: { message: 'Of the tests.', errors, type, code } }, { status: code })
}
