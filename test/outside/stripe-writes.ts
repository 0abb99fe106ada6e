import { type Account, held, type Item } from './account.ts'
import { forbidden, missing, refusal } from './stripe.ts'

/*
 * What `api.stripe.com` changes in tests: webhook endpoints. https://docs.stripe.com/api/webhook_endpoints
 */

const letters = () => crypto.randomUUID().replaceAll('-', '')

export function writeStripe(
  { method, url, body }: { method: string; url: URL; body: string },
  account: Account,
  key: string,
): Response {
  const [, version, path, id] = url.pathname.split('/')
  if (version !== 'v1' || path !== 'webhook_endpoints')
    return refusal(404, { type: 'invalid_request_error', message: 'Unrecognized request URL.' })
  if (!account.writes) return forbidden(key, 'webhook_endpoints', 'write')
  const fields = new URLSearchParams(body)
  if (id === undefined) return create(account, fields, key)
  const endpoint = account.objects[id]
  if (!endpoint) return missing(id, 'webhook_endpoint', 404)
  if (method === 'DELETE') {
    account.objects[id] = null
    return Response.json({ id, object: 'webhook_endpoint', deleted: true })
  }
  if (fields.has('api_version')) return unknown('api_version')
  Object.assign(endpoint, changed(fields))
  const { secret: _, ...shown } = endpoint
  return Response.json(shown)
}

function create(account: Account, fields: URLSearchParams, key: string): Response {
  const all = held(account).filter((one) => one.object === 'webhook_endpoint')
  const most = account.endpoints_most ?? 16
  if (all.length >= most)
    return refusal(400, {
      type: 'invalid_request_error',
      message: `You have reached the maximum of ${most} webhook endpoints.`,
    })
  const id = `we_1${letters().slice(0, 22)}`
  const endpoint: Item = {
    id,
    object: 'webhook_endpoint',
    api_version: fields.get('api_version'),
    application: null,
    created: Math.floor(Date.now() / 1000),
    description: null,
    livemode: key.startsWith('rk_live'),
    metadata: {},
    status: 'enabled',
    secret: `whsec_${letters()}`,
    ...changed(fields),
  }
  account.objects[id] = endpoint
  return Response.json(endpoint)
}

function changed(fields: URLSearchParams): Item {
  const events = [...fields].filter(([name]) => /^enabled_events\[\d*\]$/.test(name)).map(([, value]) => value)
  const metadata = [...fields].flatMap(([name, value]) => {
    const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? []
    return key === undefined ? [] : [[key, value]]
  })
  return {
    ...(fields.has('url') && { url: fields.get('url') }),
    ...(fields.has('description') && { description: fields.get('description') }),
    ...(events.length > 0 && { enabled_events: events }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata) }),
    ...(fields.has('disabled') && { status: fields.get('disabled') === 'true' ? 'disabled' : 'enabled' }),
  }
}

function unknown(name: string): Response {
  return refusal(400, {
    type: 'invalid_request_error',
    code: 'parameter_unknown',
    message: `Received unknown parameter: ${name}`,
  })
}
