import { type Account, type Api, apiHost, held, type Item } from './account.ts'

/*
 * The sites of `chargebee.com` for tests: webhook endpoints. https://apidocs.chargebee.com/docs/api/webhook_endpoints
 * A test asks it with Chargebee's own SDK. The account's `site` is the only one that its key is for.
 */

let made = 0

export const chargebee = apiHost({
  keyOf(request) {
    const [, basic] = /^Basic (\S+)$/i.exec(request.headers.get('Authorization') ?? '') ?? []
    return basic === undefined ? null : (atob(basic).split(':')[0] ?? null)
  },
  unknown: () => refusal(401, 'api_authentication_failed', 'Sorry, authentication failed. Invalid api key'),
  failed: (status) =>
    status < 400 ? Response.json({}, { status }) : refusal(status, 'internal_error', 'Sorry, something went wrong.'),
  answer: (url, account) =>
    whereEndpoints(url, account, (id) => (id === undefined ? list(url, account) : one(account, id))),
  write: ({ url, body }, account) =>
    whereEndpoints(url, account, (id, deletes) => {
      if (!account.writes) return refusal(403, 'api_authorization_failed', 'The key does not have the permission.')
      const fields = new URLSearchParams(body)
      if (id === undefined) return create(account, fields)
      const endpoint = account.objects[id]
      if (!endpoint) return missing()
      if (deletes) {
        account.objects[id] = null
        return Response.json({ webhook_endpoint: shownOf({ ...endpoint, deleted: true }) })
      }
      account.objects[id] = { ...endpoint, ...changed(fields) }
      return one(account, id)
    }),
} satisfies Api)

function whereEndpoints(
  { hostname, pathname }: URL,
  account: Account,
  then: (id: string | undefined, deletes: boolean) => Response,
): Response {
  const [site] = hostname.split('.')
  if (account.site !== undefined && account.site !== site)
    return refusal(404, 'site_not_found', `The site ${site} does not exist.`)
  const [path, id, deletes] = /^\/api\/v2\/webhook_endpoints(?:\/(\w+)(\/delete)?)?$/.exec(pathname) ?? []
  if (path === undefined) return missing()
  if (account.refused?.includes('webhook_endpoints'))
    return refusal(403, 'api_authorization_failed', 'The key does not have the permission.')
  return then(id, deletes !== undefined)
}

function list({ searchParams: query }: URL, account: Account): Response {
  const all = held(account)
  const limit = Math.min(Number(query.get('limit') ?? 10), account.page_most ?? 100)
  const from = Number(query.get('offset') ?? 0)
  const page = all
    .slice(from, from + limit)
    .map((webhook_endpoint) => ({ webhook_endpoint: shownOf(webhook_endpoint) }))
  return Response.json({ list: page, ...(from + limit < all.length && { next_offset: String(from + limit) }) })
}

function create(account: Account, fields: URLSearchParams): Response {
  if (held(account).length >= (account.endpoints_most ?? 5))
    return refusal(400, 'configuration_incompatible', 'Only 5 webhooks can be configured.')
  if ((fields.get('name') ?? '').length > 50 || !fields.has('name'))
    return refusal(400, 'param_wrong_value', 'name : Cannot be longer than 50 characters.')
  made += 1
  const id = `whv2_${Date.now()}${made}`
  const of = { api_version: 'v2', primary_url: false, send_card_resource: false, disabled: false }
  account.objects[id] = { id, object: 'webhook_endpoint', ...of, ...changed(fields) }
  return one(account, id)
}

function changed(fields: URLSearchParams): Item {
  const events = [...fields].filter(([name]) => /^enabled_events\[\d+\]$/.test(name)).map(([, value]) => value)
  const texts = ['name', 'url', 'api_version', 'basic_auth_username', 'basic_auth_password']
  return {
    ...Object.fromEntries(texts.filter((name) => fields.has(name)).map((name) => [name, fields.get(name)])),
    ...(fields.has('disabled') && { disabled: fields.get('disabled') === 'true' }),
    enabled_events: events.length > 0 ? events : undefined,
  }
}

function one({ objects }: Account, id: string): Response {
  const found = objects[id]
  return found ? Response.json({ webhook_endpoint: shownOf(found) }) : missing()
}

function shownOf({ basic_auth_username: _, basic_auth_password: __, ...shown }: Item): Item {
  return shown
}

const missing = () => refusal(404, 'resource_not_found', 'Sorry, the resource was not found.')

function refusal(status: number, api_error_code: string, message: string): Response {
  return Response.json({ message, api_error_code, error_code: api_error_code, http_status_code: status }, { status })
}
