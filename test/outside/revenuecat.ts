import { type Account, type Api, apiHost, held, type Item } from './account.ts'

/*
 * `api.revenuecat.com` for tests: the subscriptions of a customer. Rules and errors as https://www.revenuecat.com/docs/api-v2 states them. A
 * key is known to the tests as it is entered: `proj…:sk_…`.
 */

export const revenuecat = apiHost({
  keyOf(request) {
    const secret = /^Bearer (sk_\w+)$/.exec(request.headers.get('Authorization') ?? '')?.[1]
    const project = partsOf(request.url)?.project
    return secret === undefined || project === undefined ? null : `${project}:${secret}`
  },
  unknown: () => refusal(401, 'authentication_error'),
  failed: (status) =>
    status < 400 ? Response.json({}, { status }) : refusal(status, TYPES[status] ?? 'parameter_error'),
  answer(url, account) {
    if (account.refused?.includes('subscriptions')) return refusal(403, 'authorization_error')
    const { customer } = partsOf(url.href) ?? {}
    const { aliases } = account as Account & { aliases?: Record<string, string> }
    const id = aliases?.[customer ?? ''] ?? customer
    const own = held(account).filter((one) => one.customer_id === id)
    // One without any subscription is an object of its own.
    if (own.length === 0) return refusal(404, 'resource_missing')
    return list(
      url,
      own.filter((one) => one.object === 'subscription'),
    )
  },
} satisfies Api)

function partsOf(url: string) {
  const { pathname } = new URL(url)
  const [, project, customer] = /^\/v2\/projects\/(\w+)\/customers\/([^/]+)\/subscriptions$/.exec(pathname) ?? []
  return customer === undefined ? null : { project, customer: decodeURIComponent(customer) }
}

function list({ pathname, searchParams: query }: URL, all: Item[]): Response {
  const most = Math.min(Number(query.get('limit') ?? 20), 100)
  const next_page = all.length > most ? `${pathname}?starting_after=${all[most - 1]?.id}` : null
  return Response.json({ object: 'list', items: all.slice(0, most), next_page, url: pathname })
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'authorization_error',
  404: 'resource_missing',
  429: 'rate_limit_error',
  500: 'server_error',
  503: 'server_error',
}

function refusal(status: number, type: string): Response {
  return Response.json({ object: 'error', type, message: 'Of the tests.', retryable: status >= 429 }, { status })
}
