import { type Account, type Api, apiHost, held, type Item } from './account.ts'

/*
 * `v3.recurly.com` and `v3.eu.recurly.com` for tests: subscriptions and invoices. Rules and errors as
 * https://recurly.com/developers/api/v2021-02-25/ states them.
 */

const VERSION = 'application/vnd.recurly.v2021-02-25'
const KINDS: Readonly<Record<string, string>> = { subscriptions: 'subscription', invoices: 'invoice' }

export const recurly = apiHost({
  keyOf(request) {
    const [, encoded = ''] = /^Basic (\S+)$/.exec(request.headers.get('Authorization') ?? '') ?? []
    const [user = '', password] = Buffer.from(encoded, 'base64').toString().split(':')
    // A key of the EU is known to the tests as it is entered.
    const place = new URL(request.url).hostname === 'v3.eu.recurly.com' ? 'eu:' : ''
    const isSent = user !== '' && password === '' && request.headers.get('Accept') === VERSION
    return isSent ? `${place}${user}` : null
  },
  unknown: () => refusal(401, 'unauthorized'),
  failed: (status) => (status < 400 ? Response.json({}, { status }) : refusal(status, TYPES[status] ?? 'bad_request')),
  answer,
} satisfies Api)

const TYPES: Readonly<Record<number, string>> = {
  401: 'invalid_api_key',
  403: 'invalid_permissions',
  404: 'not_found',
  429: 'rate_limited',
  500: 'internal_server_error',
  503: 'service_not_available',
}

function answer(url: URL, account: Account): Response {
  const [, code, name = '', id] = /^\/(?:accounts\/code-([^/]+)\/)?(\w+)(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  const object = KINDS[name]
  if (object === undefined) return refusal(404, 'not_found')
  if (account.refused?.includes(name)) return refusal(403, 'invalid_permissions')
  const all = held(account).filter((one) => one.object === object)
  if (id === undefined)
    return list(
      url,
      account,
      all.filter((one) => code === undefined || codeOf(one) === code),
    )
  const found = all.find((one) => one.id === id || `uuid-${one.uuid}` === id)
  return found ? Response.json(found) : refusal(404, 'not_found')
}

const codeOf = ({ account }: Item) => (account as Item | undefined)?.code

function list({ searchParams: query }: URL, { page_most = 200 }: Account, all: Item[]): Response {
  const most = Math.min(Number(query.get('limit') ?? 20), 200, page_most)
  return Response.json({ object: 'list', has_more: all.length > most, next: null, data: all.slice(0, most) })
}

function refusal(status: number, type: string): Response {
  return Response.json({ error: { type, message: 'Of the tests.', params: [] } }, { status })
}
