import { randomBytes } from 'node:crypto'
import { type Account, type Api, apiHost, held, type Item } from './account.ts'

/*
 * `api.polar.sh` for tests: webhook endpoints. https://polar.sh/docs/api-reference/webhooks/endpoints/create
 * A test asks it with Polar's own SDK.
 */

export const polar = apiHost({
  keyOf: (request) => /^Bearer (\S+)$/i.exec(request.headers.get('Authorization') ?? '')?.[1] ?? null,
  unknown: () => refusal(401, 'invalid_token', 'The access token is invalid.'),
  failed(status) {
    if (status === 401) return refusal(401, 'invalid_token', 'The access token is invalid.')
    return status < 400 ? Response.json({}, { status }) : refusal(status, 'InternalServerError', 'Failed.')
  },
  answer: (url, account) =>
    whereEndpoints(url, account, (id) => (id === undefined ? list(url, account) : one(account, id))),
  write: ({ method, url, body }, account) =>
    whereEndpoints(url, account, (id) => {
      if (!account.writes) return scope()
      const sent = body === '' ? {} : (JSON.parse(body) as Item)
      if (id === undefined) return create(account, sent)
      const endpoint = account.objects[id]
      if (!endpoint) return missing()
      if (method === 'DELETE') {
        account.objects[id] = null
        return new Response(null, { status: 204 })
      }
      account.objects[id] = { ...endpoint, ...sent, modified_at: new Date().toISOString() }
      return one(account, id)
    }),
} satisfies Api)

function whereEndpoints(url: URL, { refused = [] }: Account, then: (id?: string) => Response): Response {
  const [, id] = /^\/v1\/webhooks\/endpoints(?:\/([\w-]+))?\/?$/.exec(url.pathname) ?? [null, null]
  if (id === null) return missing()
  return refused.includes('webhooks') ? scope() : then(id)
}

function list({ searchParams: query }: URL, account: Account): Response {
  const all = held(account).filter(isPolarEndpoint)
  const limit = Math.min(Number(query.get('limit') ?? 10), account.page_most ?? 100)
  const page = Number(query.get('page') ?? 1)
  const pagination = { total_count: all.length, max_page: Math.ceil(all.length / limit) }
  return Response.json({ items: all.slice((page - 1) * limit, page * limit), pagination })
}

function one({ objects }: Account, id: string, status = 200): Response {
  return objects[id] ? Response.json(objects[id], { status }) : missing()
}

function create(account: Account, sent: Item): Response {
  const id = crypto.randomUUID()
  const created_at = new Date().toISOString()
  const made = { created_at, modified_at: null, id, name: null, enabled: true, organization_id: crypto.randomUUID() }
  account.objects[id] = { ...made, ...sent, secret: `whsec_${randomBytes(32).toString('base64')}` }
  return one(account, id, 201)
}

export function isPolarEndpoint(one: Item): boolean {
  return 'format' in one && 'organization_id' in one
}

const missing = () => refusal(404, 'ResourceNotFound', 'Not found')
const scope = () => refusal(403, 'insufficient_scope', 'The token does not have the scope that this needs.')

function refusal(status: number, error: string, detail: string): Response {
  return Response.json({ error, detail }, { status })
}
